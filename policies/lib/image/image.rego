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

# Whether Istio's injector puts its own image in: it replaces `auto` in gateways, and which image it
# takes is a setting of the mesh.
injected(pod, container) if {
	container.name == "istio-proxy"
	container.image == "auto"
	pod.metadata.annotations["inject.istio.io/templates"]
}
