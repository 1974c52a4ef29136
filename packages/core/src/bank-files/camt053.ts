import { canonicalReference } from '@svc/kernel/bank-reference'
import { SaxesParser } from 'saxes'
import { type Encoding, FileRejected, type FileSource, textOf } from './file-source.ts'
import type { ReadingDays } from './line-reader.ts'
import type { StatementItem } from './statement-items.ts'
import {
  amountAt,
  dayAt,
  movedAt,
  narrationIn,
  referencesIn,
  requireRupees,
  unreadableAt,
} from './statement-values.ts'

/** No element of a statement has so much text, and none is so deep. */
const TEXT_CHARS_MAX = 10_000
const DEPTH_MAX = 50
/** Of an entry with very many details, the first ones name it. */
const TEXTS_MAX = 20

/** What a balance or an entry says, by the path of its elements. */
type Said = Map<string, string[]>

/** The bank's opening balance, or the closing one of the statement before. */
const OPENING = new Set(['OPBD', 'PRCD'])
const NOT_BOOKED = new Set(['PDNG', 'INFO', 'FUTR'])

const first = (said: Said, ...paths: string[]): string | undefined =>
  paths.map((path) => said.get(path)?.[0]).find((text) => text !== undefined && text !== '')

/** Collects what elements say while their text streams by. */
class CamtReader {
  readonly items: StatementItem[] = []
  readonly #parser = new SaxesParser()
  readonly #days: ReadingDays
  readonly #path: string[] = []
  #text = ''
  #said: Said | undefined
  #depth = 0
  #line = 0
  #closing: StatementItem | undefined
  isStatement = false

  constructor(source: FileSource, days: ReadingDays) {
    this.#days = days
    const refuse = (why: string): never => {
      throw new FileRejected(`${source.name} is no camt.053 statement: ${why}`)
    }
    this.#parser.on('error', ({ message }) => refuse(message))
    // Entities are declared there: none is read, of this file or another one.
    this.#parser.on('doctype', () => refuse('it has a document type declaration'))
    this.#parser.on('opentag', ({ name, attributes }) => {
      if (this.#path.length >= DEPTH_MAX) refuse('its elements are too deep')
      this.#open(name.slice(name.indexOf(':') + 1), attributes['Ccy'])
    })
    this.#parser.on('text', (text) => {
      this.#text += text
      if (this.#text.length > TEXT_CHARS_MAX) refuse(`line ${this.#parser.line} has too much text`)
    })
    this.#parser.on('cdata', (text) => (this.#text += text))
    this.#parser.on('closetag', () => this.#close())
  }

  write(text: string): void {
    this.#parser.write(text)
  }

  end(): void {
    this.#parser.close()
  }

  #open(name: string, currency: string | undefined): void {
    this.#path.push(name)
    this.#text = ''
    if (name === 'BkToCstmrStmt') this.isStatement = true
    if (name === 'Bal' || name === 'Ntry' || name === 'Acct') {
      // The accounts of payers are in entries.
      if (this.#said === undefined) {
        this.#said = new Map()
        this.#depth = this.#path.length
        this.#line = this.#parser.line
      }
    }
    if (currency !== undefined) this.#say(`${this.#inside()}@Ccy`, currency)
  }

  #inside = (): string => this.#path.slice(this.#depth).join('/')

  #say(path: string, text: string): void {
    if (this.#said === undefined) return
    const texts = this.#said.get(path) ?? []
    if (texts.length < TEXTS_MAX) texts.push(text)
    this.#said.set(path, texts)
  }

  #close(): void {
    if (this.#said && this.#path.length > this.#depth) this.#say(this.#inside(), this.#text.trim())
    const name = this.#path.pop()!
    if (this.#said && this.#path.length < this.#depth) {
      const said = this.#said
      this.#said = undefined
      this.#depth = 0
      if (name === 'Acct') this.#account(said)
      else if (name === 'Bal') this.#balance(said)
      else this.#entry(said)
    }
    if (name === 'Stmt' && this.#closing) {
      this.items.push(this.#closing)
      this.#closing = undefined
    }
    this.#text = ''
  }

  #account(said: Said): void {
    const number = first(said, 'Id/IBAN', 'Id/Othr/Id')
    if (number !== undefined) this.items.push({ is: 'account', number: canonicalReference(number) })
  }

  #isDebit(said: Said): boolean {
    const mark = first(said, 'CdtDbtInd')
    if (mark !== 'CRDT' && mark !== 'DBIT')
      throw unreadableAt(this.#line, 'CdtDbtInd', 'must be CRDT or DBIT')
    return mark === 'DBIT'
  }

  #balance(said: Said): void {
    const type = first(said, 'Tp/CdOrPrtry/Cd') ?? ''
    if (!OPENING.has(type) && type !== 'CLBD') return
    requireRupees(this.#line, first(said, 'Amt@Ccy'))
    const item = {
      is: type === 'CLBD' ? 'closing' : 'opening',
      line: this.#line,
      balancePaise: amountAt(this.#line, first(said, 'Amt') ?? '', this.#isDebit(said)),
      day: dayAt(this.#line, first(said, 'Dt/Dt', 'Dt/DtTm') ?? '', this.#days),
    } as const
    // It stands above the entries that it follows from.
    if (item.is === 'closing') this.#closing = item
    else this.items.push(item)
  }

  #entry(said: Said): void {
    const status = first(said, 'Sts/Cd', 'Sts/Prtry', 'Sts') ?? 'BOOK'
    if (NOT_BOOKED.has(status)) return
    if (status !== 'BOOK') throw unreadableAt(this.#line, 'Sts', `must be BOOK, PDNG, INFO or FUTR`)
    requireRupees(this.#line, first(said, 'Amt@Ccy'))
    const booked = first(said, 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm') ?? ''
    const isOfSeveral = (said.get(DETAILS)?.length ?? 0) > 1
    const [reference = '', ...rest] = referencesOf(
      said,
      isOfSeveral ? OF_ENTRY : [...OF_DETAILS, ...OF_ENTRY],
    )
    const others = isOfSeveral ? [...rest, ...referencesOf(said, OF_DETAILS)] : rest
    const texts = NARRATIONS.flatMap((path) => said.get(path) ?? [])
    this.items.push({
      is: 'entry',
      line: this.#line,
      bookedOn: dayAt(this.#line, booked, this.#days),
      amountPaise: movedAt(this.#line, first(said, 'Amt') ?? '', this.#isDebit(said)),
      reference,
      narration: narrationIn([...others, ...texts].join(' ')),
      balancePaise: undefined,
    })
  }
}

const DETAILS = 'NtryDtls/TxDtls'
/** The payer's reference names a transfer before those that the bank gave it. */
const OF_DETAILS = [
  ...['EndToEndId', 'TxId', 'AcctSvcrRef', 'InstrId', 'ClrSysRef', 'PmtInfId', 'MsgId', 'Prtry/Ref'].map(
    (name) => `${DETAILS}/Refs/${name}`,
  ),
  `${DETAILS}/RmtInf/Strd/CdtrRefInf/Ref`,
]
/** Of an entry of several transactions no reference of one of them is its own. */
const OF_ENTRY = ['AcctSvcrRef', 'NtryRef', 'NtryDtls/Btch/PmtInfId', 'NtryDtls/Btch/MsgId']
const referencesOf = (said: Said, paths: readonly string[]): readonly string[] =>
  referencesIn(paths.flatMap((path) => said.get(path) ?? []))

const NARRATIONS = [`${DETAILS}/RmtInf/Ustrd`, `${DETAILS}/AddtlTxInf`, 'AddtlNtryInf']

/** Reads ISO 20022 statements, in bounded memory; entities of other files are never read. */
export async function* readCamt053(
  source: FileSource,
  encoding: Encoding,
  days: ReadingDays,
): AsyncGenerator<StatementItem> {
  const reader = new CamtReader(source, days)
  for await (const part of textOf(source, encoding)) {
    reader.write(part)
    yield* reader.items.splice(0)
  }
  reader.end()
  yield* reader.items.splice(0)
  if (!reader.isStatement) throw new FileRejected(`${source.name} is no camt.053 statement`)
}
