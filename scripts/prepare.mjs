// Runs after `npm ci` and `npm install`: turns the project's Git hooks on and builds the types. In an image there is no Git,
// and without development packages nothing to build types with, nor need of them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
if (existsSync(`${root}.git`)) spawnSync('git', ['config', 'core.hooksPath', '.githooks'], { cwd: root })
if (existsSync(`${root}node_modules/openapi-typescript`) && existsSync(`${root}docs/reference/openapi.json`))
  await import('./types.mjs')
