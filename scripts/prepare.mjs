// Runs after `npm ci` and `npm install`: turns the project's Git hooks on. In an image or a package there is no Git.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
if (existsSync(`${root}.git`)) spawnSync('git', ['config', 'core.hooksPath', '.githooks'], { cwd: root })
