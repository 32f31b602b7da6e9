package fleetgate.lib.image_test

import data.fleetgate.lib.image

sha := "sha256:9a1c2b3d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcdef"

test_name_alone if image.parse("nginx") == {"name": "nginx", "tag": "", "digest": ""}

test_port_of_registry_is_no_tag if {
	image.parse("registry.example.org:5000/web") == {"name": "registry.example.org:5000/web", "tag": "", "digest": ""}
}

test_port_and_tag if {
	image.parse("localhost:5000/team/web:1.2") == {"name": "localhost:5000/team/web", "tag": "1.2", "digest": ""}
}

test_tag_and_digest if {
	image.parse(concat("", ["example.org/web:1.2@", sha])) == {"name": "example.org/web", "tag": "1.2", "digest": sha}
}

test_digest_alone if image.parse(concat("", ["web@", sha])).digest == sha

test_upper_case_registry if image.parse("Registry.Example.Org/web:1").tag == "1"

test_no_references if {
	not image.parse("")
	not image.parse(5)
	not image.parse(null)
	not image.parse("Web")
	not image.parse("web:")
	not image.parse("web: 1")
	not image.parse(" web")
	not image.parse("web:1:2")
	not image.parse("web@sha256:abc")
	not image.parse("web@1@2")
	not image.parse("https://example.org/web:1")
	not image.parse("${IMAGE}")
	not image.parse("{{ .Values.image }}")
	not image.parse("example.org/")
	not image.parse("example.org//web")
}

test_shortened_digest_is_none if not image.parse(concat("", ["web@", substring(sha, 0, 50)]))

test_effective_tag if {
	image.effective_tag(image.parse("web")) == "latest"
	image.effective_tag(image.parse("web:1")) == "1"
	image.effective_tag(image.parse(concat("", ["web@", sha]))) == ""
}

test_image_of_an_istio_gateway_is_injected if {
	gateway := {"metadata": {"annotations": {"inject.istio.io/templates": "gateway"}}}
	image.injected(gateway, {"name": "istio-proxy", "image": "auto"})
	not image.injected(gateway, {"name": "web", "image": "auto"})
	not image.injected(gateway, {"name": "istio-proxy", "image": "proxyv2"})
	not image.injected({"metadata": {}}, {"name": "istio-proxy", "image": "auto"})
	not image.injected({}, {"name": "istio-proxy", "image": "auto"})
}
