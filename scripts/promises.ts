import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Promised {
  readonly id: string
  readonly promise: string
  /** What proves it; a name as it stands in the file. */
  readonly tests: readonly { readonly file: string; readonly name?: string }[]
  /** How to run it, where that is neither `npx vitest run <files>` nor `npm run test:long -- <files>`. */
  readonly command?: string
  /** The latest figure and when it was measured; empty when there is none yet. */
  readonly figure: string
}

type Groups = readonly { readonly group: string; readonly promises: readonly Promised[] }[]

/** The page of promises; throws when one names a test that is not there: such a promise is not a promise. */
export function promises(root: string): string {
  const groups = JSON.parse(readFileSync(join(root, 'docs/reference/promises.json'), 'utf8')) as Groups
  const missing = groups.flatMap((group) => group.promises.flatMap((promised) => missingOf(root, promised)))
  if (missing.length > 0)
    throw new Error(`docs/reference/promises.json names tests that are not there:\n${missing.join('\n')}`)
  return groups.map(({ group, promises }) => `## ${group}\n\n${table(promises)}`).join('\n')
}

function missingOf(root: string, { id, tests, command = '' }: Promised): string[] {
  if (tests.length === 0) return [`  ${id}: no test`]
  const run = (command.match(/\S+\.test\.ts/g) ?? []).map((file) => ({ file, name: undefined }))
  return [...tests, ...run].flatMap(({ file, name }) => {
    const path = join(root, file)
    if (!existsSync(path)) return [`  ${id}: ${file}`]
    return name === undefined || readFileSync(path, 'utf8').includes(name)
      ? []
      : [`  ${id}: ${file}: ${name}`]
  })
}

function runs(files: readonly string[]): string {
  const long = files.filter((file) => file.endsWith('.long.test.ts'))
  const others = files.filter((file) => !long.includes(file))
  const commands = [
    { start: 'npx vitest run', of: others },
    { start: 'npm run test:long --', of: long },
  ]
  return commands.flatMap(({ start, of }) => (of.length > 0 ? [start, ...of].join(' ') : [])).join(' && ')
}

function table(promises: readonly Promised[]): string {
  const rows = promises.map(({ id, promise, tests, command, figure }) => {
    const files = [...new Set(tests.map(({ file }) => file))]
    const links = files.map((file) => `[${file.split('/').at(-1)}](../../${file})`).join(', ')
    const run = command ?? runs(files)
    return `| ${id} | ${promise} | ${links} | \`${run}\` | ${figure} |`
  })
  return ['| | Promise | Tests | Command | Latest figure |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}
