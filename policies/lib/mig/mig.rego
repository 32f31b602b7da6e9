# METADATA
# title: MIG profiles by model
# description: >-
#   Into which partitions a device of each model can be divided. The same facts as the tables by which
#   demand is counted; a test holds the two together.
package fleetgate.lib.mig

models := {
	"NVIDIA-A100-80GB-PCIe": {"family": "A100", "profiles": ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]},
	"NVIDIA-A100-PCIE-40GB": {"family": "A100", "profiles": ["1g.10gb", "1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"]},
	"NVIDIA-A100-SXM4-40GB": {"family": "A100", "profiles": ["1g.10gb", "1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"]},
	"NVIDIA-A100-SXM4-80GB": {"family": "A100", "profiles": ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]},
	"NVIDIA-A30": {"family": "A30", "profiles": ["1g.6gb", "2g.12gb", "4g.24gb"]},
	"NVIDIA-B200": {"family": "B200", "profiles": ["1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"]},
	"NVIDIA-B300-SXM6-AC": {"family": "B300", "profiles": ["1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"]},
	"NVIDIA-GB200": {"family": "GB200", "profiles": ["1g.23gb", "1g.24gb", "1g.47gb", "2g.47gb", "3g.93gb", "3g.95gb", "4g.93gb", "4g.95gb", "7g.186gb", "7g.189gb"]},
	"NVIDIA-GB300": {"family": "GB300", "profiles": ["1g.35gb", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb"]},
	"NVIDIA-GH200-144G-HBM3e": {"family": "GH200", "profiles": ["1g.18gb", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"]},
	"NVIDIA-GH200-480GB": {"family": "GH200", "profiles": ["1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"]},
	"NVIDIA-H100-80GB-HBM3": {"family": "H100", "profiles": ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]},
	"NVIDIA-H100-NVL": {"family": "H100", "profiles": ["1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"]},
	"NVIDIA-H100-PCIe": {"family": "H100", "profiles": ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]},
	"NVIDIA-H200": {"family": "H200", "profiles": ["1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"]},
	"NVIDIA-H200-NVL": {"family": "H200", "profiles": ["1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"]},
	"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition": {"family": "RTX-PRO-6000", "profiles": ["1g.24gb", "2g.48gb", "4g.96gb"]},
}

# Of a device of the model, or of any model of the family where the model is not known.
profiles(row) := models[row.model].profiles if {
	is_string(row.model)
} else := found if {
	is_string(row.family)
	found := [profile |
		some _, model in models
		model.family == row.family
		some profile in model.profiles
	]
	count(found) > 0
}

# Drivers differ by a little in how they name the same large partition (`7g.79gb`, `7g.80gb`).
same(profile, other) if profile == other

same(profile, other) if {
	left := parts(profile)
	right := parts(other)
	left.slices == right.slices
	abs(left.size - right.size) <= right.size * 0.025
}

# `3g.40gb` as 3 and 40; names of special partitions end in more, such as `1g.10gb.me`.
parts(profile) := {"slices": to_number(slices), "size": to_number(size)} if {
	pieces := split(profile, ".")
	count(pieces) >= 2
	endswith(pieces[0], "g")
	endswith(pieces[1], "gb")
	slices := trim_suffix(pieces[0], "g")
	size := trim_suffix(pieces[1], "gb")
	digits(slices)
	digits(size)
}

digits(text) if {
	text != ""
	trim(text, "0123456789") == ""
}
