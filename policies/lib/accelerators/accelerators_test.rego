package fleetgate.lib.accelerators_test

import data.fleetgate.lib.accelerators

asks(resources) if accelerators.container_asks({"resources": resources}, ["nvidia.com/*"])

test_by_extended_resource if {
	asks({"limits": {"nvidia.com/gpu": 1}})
	asks({"requests": {"nvidia.com/mig-1g.5gb": "2"}})
	asks({"limits": {"nvidia.com/gpu": "${GPU}"}})
}

test_by_claim if {
	asks({"claims": [{"name": "gpu"}]})
	accelerators.pod_asks({"path": [], "spec": {"resourceClaims": [{"name": "gpu"}]}}, [])
}

test_nothing_is_asked if {
	not asks({"limits": {"cpu": 1}})
	not asks({"limits": {"nvidia.com/gpu": 0}, "requests": {"nvidia.com/gpu": "0"}})
	not asks({"limits": {"amd.com/gpu": 1}})
	not asks({"claims": []})
	not asks("x")
	not asks({"limits": "nvidia.com/gpu"})
	not accelerators.container_asks({}, ["*"])
}

test_init_containers_ask_too if {
	pod := {"path": [], "spec": {"containers": [{}], "initContainers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}}
	accelerators.pod_asks(pod, ["nvidia.com/*"])
	not accelerators.pod_asks(pod, ["amd.com/*"])
}
