# METADATA
# title: Image references
# description: >-
#   Takes an image reference apart as container runtimes do: a `:` is a tag only behind the last
#   `/`, a first part with `.`, `:` or the name `localhost` is a registry, and a tag beside a digest
#   is ignored when the image is pulled.
# related_resources:
#   - ref: https://github.com/distribution/reference
#     description: the grammar of references
package fleetgate.lib.image

# `{name, tag, digest}`, absent parts empty. Undefined if the text is no reference.
parse(reference) := {"name": name, "tag": tag, "digest": digest} if {
	is_string(reference)
	halves := split(reference, "@")
	count(halves) <= 2
	digest := digest_of(halves)
	segments := split(halves[0], "/")
	last := split(segments[count(segments) - 1], ":")
	count(last) <= 2
	tag := tag_of(last)
	name := trim_suffix(halves[0], suffix_of(tag))
	valid_name(name)
}

digest_of(halves) := "" if count(halves) == 1

digest_of(halves) := halves[1] if {
	count(halves) == 2
	regex.match(`^[a-z0-9]+([.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}$`, halves[1])
	valid_length(halves[1])
}

# The two algorithms in use have a fixed length; a shortened digest is a common slip.
valid_length(digest) if {
	startswith(digest, "sha256:")
	count(digest) == 71
}

valid_length(digest) if {
	startswith(digest, "sha512:")
	count(digest) == 135
}

valid_length(digest) if {
	not startswith(digest, "sha256:")
	not startswith(digest, "sha512:")
}

tag_of(last) := "" if count(last) == 1

tag_of(last) := last[1] if {
	count(last) == 2
	regex.match(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`, last[1])
}

suffix_of(tag) := "" if tag == ""

suffix_of(tag) := concat("", [":", tag]) if tag != ""

valid_name(name) if {
	segments := split(name, "/")
	registry(segments)
	count(segments) > 1
	path := array.slice(segments, 1, count(segments))
	every segment in path {
		valid_segment(segment)
	}
}

valid_name(name) if {
	segments := split(name, "/")
	not registry(segments)
	every segment in segments {
		valid_segment(segment)
	}
}

registry(segments) if {
	count(segments) > 1
	regex.match(`^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(:[0-9]+)?$`, segments[0])
	regex.match(`[.:A-Z]|^localhost$`, segments[0])
}

valid_segment(segment) if regex.match(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$`, segment)

# The tag that is pulled if the reference has neither tag nor digest.
effective_tag(image) := "latest" if {
	image.tag == ""
	image.digest == ""
} else := image.tag
