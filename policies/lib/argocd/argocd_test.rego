package fleetgate.lib.argocd_test

import data.fleetgate.lib.argocd

test_missing_parts_are_empty if {
	argocd.specs({"kind": "Application"}) == [{"path": ["spec"], "spec": {}}]
	argocd.specs({"kind": "Application", "spec": "x"}) == [{"path": ["spec"], "spec": {}}]
	argocd.specs({"kind": "ApplicationSet", "spec": {"template": []}}) == [{"path": ["spec", "template", "spec"], "spec": {}}]
	argocd.specs({"kind": "AppProject", "spec": {}}) == []
}

test_nested_generators if {
	manifest := {"kind": "ApplicationSet", "spec": {"generators": [{"matrix": {"generators": [
		{"git": {}, "selector": {}},
		{"merge": {"generators": [{"list": {"template": {"spec": {"project": "x"}}}}]}},
	]}}]}}
	[generator.type | some generator in argocd.generators(manifest)] == ["matrix", "git", "merge", "list"]
	path := ["spec", "generators", 0, "matrix", "generators", 1, "merge", "generators", 0, "list", "template", "spec"]
	argocd.overrides(manifest) == [{"path": path, "spec": {"project": "x"}}]
}

test_generators_of_wrong_type if {
	argocd.generators({"kind": "ApplicationSet", "spec": {"generators": "x"}}) == []
	argocd.generators({"kind": "ApplicationSet", "spec": {"generators": [5, {"git": 5}]}}) == []
	argocd.generators({"kind": "ApplicationSet"}) == []
}

sources(spec) := [source.path | some source in argocd.sources({"path": ["spec"], "spec": spec})]

test_sources_win_over_source if {
	sources({"source": {}}) == [["spec", "source"]]
	sources({"source": {}, "sources": []}) == [["spec", "source"]]
	sources({"source": {}, "sources": [{}, 5, {}]}) == [["spec", "sources", 0], ["spec", "sources", 2]]
	sources({"source": {}, "sourceHydrator": {"drySource": {}}}) == [["spec", "sourceHydrator", "drySource"]]
	sources({"source": "x"}) == []
	sources({}) == []
}

patched(text) := argocd.patched({"spec": {"templatePatch": text}}, "project")

test_patch_is_read_as_text if {
	patched("spec:\n  project: default\n") == ["default"]
	patched("spec:\n{{- if .x }}\n  project: \"a\" # why\n{{- else }}\n  project: 'b'\n{{- end }}") == ["a", "b"]
	patched("spec: {project: default, source: {}}") == ["default"]
	patched("spec: {\"project\": \"default\"}") == ["default"]
	patched("spec:\n  subproject: x\n  source: {}") == []
	argocd.patched({"spec": {}}, "project") == []
	argocd.patched({"spec": {"templatePatch": 5}}, "project") == []
}
