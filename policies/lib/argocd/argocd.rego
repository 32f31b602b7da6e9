# METADATA
# title: Argo CD objects
# description: >-
#   Where the fields of an Application stand, so that no rule forgets `sources`, the source hydrator
#   or what an ApplicationSet generates.
package fleetgate.lib.argocd

import data.fleetgate.lib.values

# The complete specifications of Applications in an object: `{path, spec}`. One that is missing or of
# the wrong type is empty here; `gitops/argocd-fields` reports it.
specs(manifest) := [{"path": ["spec"], "spec": spec}] if {
	manifest.kind == "Application"
	spec := values.map(object.get(manifest, "spec", {}))
} else := [{"path": ["spec", "template", "spec"], "spec": spec}] if {
	manifest.kind == "ApplicationSet"
	template := values.map(object.get(values.map(object.get(manifest, "spec", {})), "template", {}))
	spec := values.map(object.get(template, "spec", {}))
} else := []

# The complete specifications and those that only override parts: the templates of generators.
all_specs(manifest) := array.concat(specs(manifest), overrides(manifest))

overrides(manifest) := [{"path": array.concat(generator.path, ["template", "spec"]), "spec": spec} |
	some generator in generators(manifest)
	spec := generator.generator.template.spec
	is_object(spec)
]

# The generators of an ApplicationSet, those inside `matrix` and `merge` included (Argo CD nests
# them twice at most): `{path, type, generator}`.
generators(manifest) := array.concat(first, array.concat(second, third)) if {
	manifest.kind == "ApplicationSet"
	first := generators_at(values.map(manifest.spec), ["spec"])
	second := [inner |
		some outer in first
		some inner in generators_at(outer.generator, outer.path)
	]
	third := [inner |
		some outer in second
		some inner in generators_at(outer.generator, outer.path)
	]
} else := []

generators_at(parent, path) := [found |
	some i, entry in values.list(parent.generators)
	some type, generator in values.map(entry)
	type != "selector"
	is_object(generator)
	found := {"path": array.concat(path, ["generators", i, type]), "type": type, "generator": generator}
]

# The sources that Argo CD reads: the hydrator's if there is one, else `sources`, else `source`.
sources(entry) := [{"path": array.concat(entry.path, ["sourceHydrator", "drySource"]), "source": source}] if {
	hydrated(entry.spec)
	source := values.map(entry.spec.sourceHydrator.drySource)
} else := [{"path": array.concat(entry.path, ["sources", i]), "source": source} |
	some i, source in entry.spec.sources
	is_object(source)
] if {
	several_sources(entry.spec)
} else := [{"path": array.concat(entry.path, ["source"]), "source": entry.spec.source}] if {
	is_object(entry.spec.source)
} else := []

hydrated(spec) if is_object(spec.sourceHydrator)

several_sources(spec) if {
	is_array(spec.sources)
	count(spec.sources) > 0
}

# The values that the text of `templatePatch` sets for a key. The patch is a template, so that it can
# be read only as text: each `key: value` counts, also in a branch that is not taken.
patched(manifest, key) := [trim(groups[1], " \t\r'\"") |
	patch := manifest.spec.templatePatch
	is_string(patch)
	some groups in regex.find_all_string_submatch_n(sprintf(`(?:^|[\s{,])['"]?%s['"]?[ \t]*:[ \t]*([^\n,}#]*)`, [key]), patch, -1)
]

patch_path := ["spec", "templatePatch"]
