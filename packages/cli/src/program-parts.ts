import type { Command } from 'commander'

/**
 * The names of commands and what adds them to the command above. Their file is loaded where one of them is meant: all files
 * take half a second.
 */
export type Part = readonly [names: string, load: () => Promise<(above: Command) => void>]

/** The parts that make the command `name`; undefined where none does, as for an option, `help` or a misspelled name. */
export function partsNamed(parts: readonly Part[], name: string | undefined): readonly Part[] | undefined {
  const named = parts.filter(([names]) => name !== undefined && names.split(' ').includes(name))
  return named.length > 0 ? named : undefined
}

export async function addParts(above: Command, parts: readonly Part[]): Promise<void> {
  for (const [, load] of parts) (await load())(above)
}

/** After a wrong use each command names its own help. */
export function nameHelp(command: Command, path = command.name()): Command {
  command.showHelpAfterError(`See: ${path} --help`)
  for (const child of command.commands) nameHelp(child, `${path} ${child.name()}`)
  return command
}
