import { HOLDER_RULES, type HolderValues, NO_HOLDER } from '../../parts/card-holder.tsx'

/** A line of a file with cards to be issued. */
export interface HolderLine {
  /** Its number in the file. */
  readonly line: number
  readonly holder: HolderValues
  readonly problem: string | undefined
}

const NAMES = new Set(Object.keys(NO_HOLDER))

/** A line of CSV (RFC 4180) whose values have no line breaks. */
function valuesOf(line: string): string[] {
  const values: string[] = []
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
    values.push((quoted?.replaceAll('""', '"') ?? plain ?? '').trim())
  return values
}

/** Reads holders by the names in the first line; each line says what is wrong with it, by the rules of the form. */
export function readHolders(text: string): HolderLine[] {
  const [head = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const names = valuesOf(head)
  const unknown = names.filter((name) => !NAMES.has(name))
  return lines.flatMap((line, index): HolderLine[] => {
    if (line.trim() === '') return []
    const values = valuesOf(line)
    const given = Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
    const holder = { ...NO_HOLDER, ...given } as HolderValues
    return [{ line: index + 2, holder, problem: problemOf(holder, values.length, names, unknown) }]
  })
}

function problemOf(
  holder: HolderValues,
  found: number,
  names: readonly string[],
  unknown: readonly string[],
): string | undefined {
  if (unknown.length > 0) return `The file has an unknown column: ${unknown.join(', ')}`
  if (found !== names.length) return `It has ${found} values; the first line names ${names.length}`
  const { email, loadAmount, mobile } = HOLDER_RULES
  const problems = [
    ['email', email(holder.email, holder)],
    ['mobile', mobile(holder.mobile)],
    ['loadAmount', loadAmount(holder.loadAmount)],
  ] as const
  const wrong = problems.filter(([, problem]) => problem !== null)
  return wrong.length === 0 ? undefined : wrong.map(([name, problem]) => `${name}: ${problem}`).join('; ')
}
