import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/sources.ts'

const FOLDERS = ['.', 'deploy', 'docs', 'lab', 'packages']
const LEFT_OUT = /node_modules|\/dist\//

const PAGES = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' }).map((file) =>
    join(folder, file),
  ),
).filter((file) => file.endsWith('.md') && !LEFT_OUT.test(file))

/** The lines of all shell blocks that people paste; a block that begins with `#!` is saved as a file. Quoted text is left out. */
const LINES = PAGES.flatMap((file) =>
  [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(
      /^ *```(?:sh|bash|shell|console)\b.*\n([^]*?)^ *```$/gm,
    ),
  ]
    .map(([, code = '']) => code)
    .filter((code) => !code.startsWith('#!'))
    .flatMap((code) => code.replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, '""').split('\n'))
    .map((line) => ({ file, line })),
)

const linesWith = (pattern: RegExp): string[] =>
  LINES.filter(({ line }) => pattern.test(line)).map(({ file, line }) => `${file}: ${line}`)

test('no line of a shell block has a comment, which an interactive zsh takes for arguments or a command', () => {
  expect(LINES.length).toBeGreaterThan(300)
  expect(linesWith(/(?:^|\s)#/)).toEqual([])
})

test('no shell block has an option that only GNU programs have: macOS refuses it', () => {
  expect(
    linesWith(/\bdate (?:-d|--date)\b|\bsed -i (?!"")|\bstat -c\b|\bgrep -P\b|\bbase64 -w|\btac\b/),
  ).toEqual([])
})

test('no shell block replaces a variable that shells and programs rely on', () => {
  expect(linesWith(/(?:^|\s)(?:USER|LOGNAME|HOME|PATH|SHELL|PWD|UID|path|status)=/)).toEqual([])
})
