/** Rows of a CSV (RFC 4180) as objects by column name. */
export function readCsv(text: string): Record<string, string>[] {
  const rows = [
    ...text.matchAll(/((?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\r\n]*))*)\r\n/g),
  ].map(([, line]) =>
    [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*),/g)].map(([, field]) =>
      field!.startsWith('"') ? field!.slice(1, -1).replaceAll('""', '"') : field!,
    ),
  )
  const [names = [], ...items] = rows
  return items.map((fields) => Object.fromEntries(names.map((name, i) => [name, fields[i]!])))
}
