import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newProgram } from '@svc/cli/program'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/sources.ts'

const FOLDERS = ['apps/console/src', 'deploy', 'docs', 'packages', 'README.md', 'CONTRIBUTING.md']
const READ = /\.(?:tsx?|md|json)$/
/** What older versions had is in the changelog alone; types are made from texts that are read here. */
const LEFT_OUT = /node_modules|\/dist\/|api-types\.ts$/

/** A command as a text names it: `svc` and the words after it, in code marks, or anywhere if it is of `svc admin`. */
const NAMED = /(?:`svc (?=[a-z])|\bsvc (?=admin\b))([a-z][a-z-]*(?: (?!has\b)[a-z][a-z-]*(?![\w/.-]))*)/g

/** The part of the words that is no command of the program, if any; what follows a command are its arguments. */
function unknownIn(program: Command, words: readonly string[]): string | undefined {
  let command = program
  for (const word of words) {
    if (command.commands.length === 0) return undefined
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (!next) return word
    command = next
  }
  return undefined
}

test('every command that a text names is a command of the program', async () => {
  const program = await newProgram()
  const files = FOLDERS.flatMap((folder) =>
    READ.test(folder)
      ? [folder]
      : readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
          join(folder, file),
        ),
  ).filter((file) => READ.test(file) && !LEFT_OUT.test(file))
  const named = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(NAMED)].map(([, words = '']) => ({ file, words })),
  )
  expect(named.length).toBeGreaterThan(100)
  const unknown = named.filter(({ words }) => unknownIn(program, words.split(' ')) !== undefined)
  expect(unknown.map(({ file, words }) => `${file}: svc ${words}`)).toEqual([])
})

test('a command loads its part of the program alone, and is the same as with all others', async () => {
  const whole = await newProgram()
  const shapeOf = (command: Command): unknown => [
    command.name(),
    command.description(),
    command.options.map(({ flags }) => flags),
    command.commands.map(shapeOf),
  ]
  const below = (program: Command, name: string) => program.commands.find((one) => one.name() === name)!
  for (const { words, command } of [
    ...whole.commands
      .filter((one) => !['serve', 'admin', 'completion', 'complete'].includes(one.name()))
      .map((command) => ({ words: [command.name()], command })),
    ...below(whole, 'admin').commands.map((command) => ({ words: ['admin', command.name()], command })),
  ]) {
    const alone = words.reduce(below, await newProgram(words))
    expect(shapeOf(alone)).toEqual(shapeOf(command))
    // With a name that no part has, everything is loaded, and each command takes half a second more.
    expect([words, alone.parent!.commands.length < command.parent!.commands.length]).toEqual([words, true])
  }
})
