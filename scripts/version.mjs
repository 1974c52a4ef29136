// Writes the version of package.json wherever it stands again: the workspaces' manifests and the SDK, which runs without
// one. npm runs it: `npm version 0.2.0 --no-git-tag-version`, then `npm install --package-lock-only`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled, ROOT, readLock } from './shipped.mjs'

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
/** @type {(file: string, pattern: RegExp) => void} */
const set = (file, pattern) => {
  const text = readFileSync(join(ROOT, file), 'utf8')
  writeFileSync(
    join(ROOT, file),
    text.replace(pattern, (_, before, after) => `${before}${version}${after}`),
  )
}
for (const path of Object.keys(readLock().packages))
  if (path !== '' && !isInstalled(path))
    set(join(path, 'package.json'), /("(?:version|@svc\/[\w-]+)": ")\d+\.\d+\.\d+[^"]*(")/g)
set('packages/sdk/src/version.ts', /(VERSION = ')[^']*(')/g)
set('deploy/README.md', /(below `\/v)\d+\.\d+\.\d+(`)/g)
/** Where a tarball is installed. */
const INSTALLED = [
  'deploy/README.md',
  'docs/guides/encrypt-a-request.md',
  'docs/guides/evaluate.md',
  'docs/guides/test-in-ci.md',
  'examples/ci/github-actions.yaml',
  'packages/app/README.md',
  'packages/cli/README.md',
  'packages/sdk/README.md',
]
for (const file of INSTALLED) set(file, /(svc-(?:partner-service|sdk|cli)-)\d+\.\d+\.\d+(\.tgz)/g)
