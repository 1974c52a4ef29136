import { readFileSync } from 'node:fs'
import { BadSetting, bad } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const fileOf = (name: string): string => `${name}_FILE`

export const isGiven = (environment: Environment, name: string): boolean =>
  [name, fileOf(name)].some((each) => Boolean(environment[each]?.trim()))

interface Given {
  readonly text: string | undefined
  /** Reads the file again. */
  readonly again?: () => string
}

/** A secret by its value, or by the file that holds it: the environment of a process is readable to more than its files. */
export function givenSecret(environment: Environment, name: string): Given {
  const value = environment[name]?.trim()
  const file = environment[fileOf(name)]?.trim()
  if (!file) return { text: value }
  if (value) throw new BadSetting(`must not be set beside ${fileOf(name)}`)
  const again = () => textOf(file, name)
  return { text: again(), again }
}

function textOf(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').trim() || bad(`is empty in the file that ${fileOf(name)} names`)
  } catch (error) {
    if (error instanceof BadSetting) throw error
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new BadSetting(`cannot be read from the file that ${fileOf(name)} names (${code})`)
  }
}
