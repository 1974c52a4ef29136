// `npm run check -- language`: what people read is in the field's usual words (CONTRIBUTING.md, "Language").
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dialectOf } from './dialect.ts'

const GENERATED = 'packages/sdk/src/registry.ts'
const FILES = [
  '*.md',
  'packages/*/src/*.ts',
  'packages/sdk/examples/*.ts',
  'examples/*',
  'clients/*',
  'apps/console/src/*.ts',
  'apps/console/src/*.tsx',
  'packages/*/test/*.ts',
  'test/*.ts',
  'lab/*.ts',
]

const files = execFileSync('git', ['ls-files', ...FILES], { encoding: 'utf8' })
  .trim()
  .split('\n')
for (const file of new Set(files)) {
  if (file === GENERATED) continue
  const words = dialectOf(file, readFileSync(file, 'utf8'))
  if (words.length === 0) continue
  console.error(`${file}: words of a private dialect: ${words.join(', ')}`)
  process.exitCode = 1
}
