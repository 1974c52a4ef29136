const WIDTH = 120

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** JSON for people and for comparisons by line: what fits into a line stands in one; indented by one space a level. */
export function layOutJson(value: unknown, indent = '', taken = 0): string {
  const text = onOneLine(value)
  if (isScalar(value) || indent.length + taken + text.length <= WIDTH) return text
  const inner = `${indent} `
  if (!Array.isArray(value)) {
    const fields = Object.entries(value as object).filter(([, field]) => field !== undefined)
    const lines = fields.map(([name, field]) => {
      const begin = `${inner}${JSON.stringify(name)}: `
      return begin + layOutJson(field, inner, begin.length - inner.length)
    })
    return `{\n${lines.join(',\n')}\n${indent}}`
  }
  const lines = value.every(isScalar)
    ? filled(value, WIDTH - inner.length).map((line) => inner + line)
    : value.map((item) => inner + layOutJson(item, inner))
  return `[\n${lines.join(',\n')}\n${indent}]`
}

function onOneLine(value: unknown): string {
  if (isScalar(value)) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  const fields = Object.entries(value as object)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => `${JSON.stringify(name)}: ${onOneLine(field)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

/** As many values in a line as fit. */
function filled(values: readonly unknown[], width: number): string[] {
  const lines: string[] = []
  for (const text of values.map(onOneLine)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + text.length + 3 <= width)
      lines[lines.length - 1] = `${last}, ${text}`
    else lines.push(text)
  }
  return lines
}
