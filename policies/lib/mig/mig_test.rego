package fleetgate.lib.mig_test

import data.fleetgate.lib.mig

test_profiles_of_a_model if {
	"1g.5gb" in mig.profiles({"model": "NVIDIA-A100-SXM4-40GB", "family": "A100"})
	not "1g.5gb" in mig.profiles({"model": "NVIDIA-A100-SXM4-80GB", "family": "A100"})
}

test_profiles_of_a_family_are_those_of_all_its_models if {
	found := mig.profiles({"model": null, "family": "A100"})
	"1g.5gb" in found
	"1g.20gb" in found
	not "1g.6gb" in found
}

test_models_that_are_not_known if {
	not mig.profiles({"model": "NVIDIA-X", "family": "A100"})
	not mig.profiles({"model": null, "family": null})
	not mig.profiles({"model": null, "family": "L4"})
}

test_names_that_mean_the_same if {
	mig.same("7g.79gb", "7g.80gb")
	mig.same("1g.10gb.me", "1g.10gb")
	mig.same("x", "x")
	not mig.same("1g.5gb", "1g.10gb")
	not mig.same("1g.5gb", "1g.6gb")
	not mig.same("1g.10gb", "2g.10gb")
	not mig.same("1g.10gb", "1g.12gb")
	not mig.same("xg.10gb", "1g.10gb")
	not mig.same("1g", "1g.10gb")
}
