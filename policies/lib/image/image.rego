# METADATA
# title: Image references
# description: >-
#   An image reference in its parts, with its name as it is written.
package fleetgate.lib.image

# `{name, tag, digest}`, absent parts empty. Undefined if the value is no reference.
parse(reference) := {"name": name, "tag": tag, "digest": digest} if {
	fleetgate.image.valid(reference)
	parts := fleetgate.image(reference)
	tag := written(parts.tag)
	digest := written(parts.digest)
	name := trim_suffix(split(reference, "@")[0], concat("", [separator[tag == ""], tag]))
}

written(part) := part if {
	is_string(part)
} else := ""

separator := {true: "", false: ":"}

# The tag that is pulled if the reference has neither tag nor digest.
effective_tag(image) := "latest" if {
	image.tag == ""
	image.digest == ""
} else := image.tag
