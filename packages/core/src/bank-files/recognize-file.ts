import { canonicalWord, type FileFormat, KINDS_OF_RAIL, type SettlementRail } from './file-format.ts'
import { ColumnMissing, type Encoding, FileRejected, type FileSource, inspectFile } from './file-source.ts'
import { type FileHeading, findHeading, readRows } from './file-table.ts'
import { SETTLEMENT_FORMATS } from './shipped-formats.ts'
import { messageFormat, STATEMENT_CSV_FORMATS } from './statement-file.ts'

/** What a file of a bank is, by what it says. */
export type RecognizedFile =
  | { readonly kind: 'settlement'; readonly rail: SettlementRail; readonly format: string }
  | { readonly kind: 'statement' | 'payouts' | 'refunds' }

const responsesTo = (one: string): FileFormat => ({ columns: { id: `${one}Id`, status: 'status' } })
const RESPONSES = { payouts: responsesTo('payout'), refunds: responsesTo('refund') } as const

/** Our ids in a line, where a bank has columns of its own. */
const OUR_IDS = { payouts: /\bpyo_[0-9a-z]{26}\b/, refunds: /\brfd_[0-9a-z]{26}\b/ } as const
const KINDS = ['payouts', 'refunds'] as const

/** Recognizes a file by its heading, or by its first lines. Throws `FileRejected` for what is like none. */
export async function recognizeFile(source: FileSource): Promise<RecognizedFile> {
  const { encoding } = await inspectFile(source)
  if (await messageFormat(source)) return { kind: 'statement' }
  const fits = (format: FileFormat) => headingOf(source, encoding, format)
  for (const kind of KINDS) if (await fits(RESPONSES[kind])) return { kind }
  for (const format of Object.values(STATEMENT_CSV_FORMATS))
    if (await fits(format)) return { kind: 'statement' }
  const { svc, ...others } = SETTLEMENT_FORMATS
  for (const [name, format] of Object.entries(others))
    if (await fits(format)) return { kind: 'settlement', rail: 'upi', format: name }
  const heading = await fits(svc!)
  if (heading) return { kind: 'settlement', rail: await railOf(source, encoding, heading), format: 'svc' }
  const kind = await kindByIds(source, encoding)
  if (kind) return { kind }
  throw new FileRejected(
    'The file is like none that we know: say what it is, and how this bank names its columns',
  )
}

async function headingOf(source: FileSource, encoding: Encoding, format: FileFormat) {
  try {
    return await findHeading(source, encoding, format)
  } catch (error) {
    if (error instanceof ColumnMissing) return undefined
    throw error
  }
}

/** By the first line of a kind that only one of them has. */
async function railOf(source: FileSource, encoding: Encoding, heading: FileHeading): Promise<SettlementRail> {
  const place = heading.places.get('kind')
  if (place === undefined) return 'upi'
  for await (const { cells, is } of readRows(source, encoding, {
    heading,
    format: SETTLEMENT_FORMATS['svc']!,
  })) {
    const word = canonicalWord(cells[place] ?? '')
    const has = (rail: SettlementRail) =>
      Object.keys(KINDS_OF_RAIL[rail]).some((kind) => canonicalWord(kind) === word)
    if (is === 'line' && has('card') !== has('upi')) return has('card') ? 'card' : 'upi'
  }
  return 'upi'
}

/** A file of responses names what we sent, whatever its columns are called. */
async function kindByIds(source: FileSource, encoding: Encoding) {
  const heading = await headingOf(source, encoding, { columns: {} })
  if (!heading) return undefined
  for await (const { cells } of readRows(source, encoding, { heading, format: { columns: {} } })) {
    const found = KINDS.find((kind) => cells.some((cell) => OUR_IDS[kind].test(cell)))
    if (found) return found
  }
  return undefined
}
