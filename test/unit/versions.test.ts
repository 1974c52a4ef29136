import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION as SDK_VERSION } from '@svc/sdk'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/sources.ts'

interface Manifest {
  readonly version: string
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
}

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
const { version, packages } = read('package-lock.json')
const workspaces = Object.keys(packages).filter((path) => !path.includes('node_modules/'))
const manifests: Manifest[] = workspaces.map((path) => read(join(path, 'package.json')))
const pins = manifests.flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
  Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }),
)

test('each of our packages, and the SDK without its manifest, has the version of the program', () => {
  expect(workspaces.length).toBeGreaterThan(10)
  const ofOurs = pins.filter(([name]) => name.startsWith('@svc/'))
  const versions = [...manifests.map((manifest) => manifest.version), ...ofOurs.map(([, pin]) => pin)]
  expect([...new Set([...versions, SDK_VERSION, version])]).toEqual([read('package.json').version])
})

test('every tarball that a text names is of this version, and `npm version` renames it', () => {
  const texts = ['deploy', 'docs', 'examples', 'packages'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  const script = readFileSync(join(ROOT, 'scripts/version.mjs'), 'utf8')
  const named = texts
    .filter((file) => /\.(?:md|yaml)$/.test(file) && !/node_modules|\/dist\//.test(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/svc-[a-z-]+-(\d+\.\d+\.\d+)\.tgz/g)].map(
        ([, of]) => ({ file, of, isRenamed: script.includes(`'${file}'`) }),
      ),
    )
  expect(named.length).toBeGreaterThan(7)
  for (const each of named) expect(each).toMatchObject({ of: version, isRenamed: true })
})

test('no package of others is asked for in two versions', () => {
  const versions = new Map<string, Set<string>>()
  for (const [name, pin] of pins) versions.set(name, (versions.get(name) ?? new Set()).add(pin))
  expect([...versions].filter(([, each]) => each.size > 1)).toEqual([])
})
