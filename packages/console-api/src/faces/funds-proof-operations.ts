import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ACCOUNT_KINDS, kindOf } from '@svc/core/ledger/chart-of-accounts'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { PURPOSE_NAMES } from '@svc/core/statements/bank-account'
import { businessToday } from '@svc/core/statements/change-line'
import { proofFiles, proofProgram } from '@svc/core/statements/export-proof'
import { DIFFERENCE_KINDS, isWhole, type Proof, proveFunds, signProof } from '@svc/core/statements/proof'
import { listProofs, storedProofToWire } from '@svc/core/statements/stored-proofs'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { type ZipFile, zip } from '@svc/platform/zip'
import { readDay } from '@svc/server/http/fields'
import { query, type Services, streamingQuery } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  instant,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'

const TAG = 'Bank statements'
const PATH = `${CONSOLE_API}/funds-proofs`
const PROOFS_SHOWN = 400
/** So many items of a difference are shown; all are in the export. */
const ITEMS_SHOWN = 50
const params = Type.Object({
  date: Type.String({ maxLength: 10, description: 'At the end of this day, `YYYY-MM-DD`' }),
})
const ofDay = { ...consoleOperation, tag: TAG, permission: 'view', params } as const

const FundsProofRecord = record('FundsProof', {
  date: text('At the end of this day, `YYYY-MM-DD`'),
  version: Type.Integer(),
  provisional: Type.Boolean({ description: 'A statement of the day was missing' }),
  unexplained: rupeesText,
  shortfall: rupeesText,
  signed: text('A compact JWS that has all of it'),
  provenOn: instant,
})

const Purpose = Type.Enum([...PURPOSE_NAMES])
const Amounts = Type.Array(
  closed({ kind: Type.Enum([...ACCOUNT_KINDS]), title: text('Of the kind of account'), amount: rupeesText }),
)
const FundsProofDetail = record('FundsProofDetail', {
  date: text('At the end of this day, `YYYY-MM-DD`'),
  provisional: Type.Boolean({ description: 'A statement of the day is missing, or it is not over' }),
  whole: Type.Boolean({ description: 'All is explained, and escrow covers what is owed out of it' }),
  accounts: Type.Array(
    record('ProvenAccount', {
      purpose: Purpose,
      statementBalance: rupeesText,
      booksBalance: rupeesText,
      unexplained: rupeesText,
      differences: Type.Array(
        closed({
          kind: Type.Enum([...DIFFERENCE_KINDS]),
          amount: rupeesText,
          count: Type.Integer(),
          items: Type.Array(
            record('ProofItem', {
              documentId: text(),
              reference: text(),
              date: text('`YYYY-MM-DD`'),
              amount: rupeesText,
              ageDays: Type.Integer(),
              owner: text(),
            }),
            { description: `The first ${ITEMS_SHOWN}; all are in the export` },
          ),
        }),
      ),
    }),
  ),
  coverage: Type.Array(
    record('ProvenCoverage', {
      purpose: Purpose,
      owed: Amounts,
      due: Amounts,
      required: rupeesText,
      bank: rupeesText,
      surplus: rupeesText,
    }),
  ),
})

export const listFundsProofs = query({
  ...consoleOperation,
  id: 'console.listFundsProofs',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List the proofs of funds, the latest of each day',
  permission: 'view',
  result: closed({ data: Type.Array(FundsProofRecord) }),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async () => {
      const found = await database.operate((tx) => listProofs(tx, PROOFS_SHOWN))
      return { body: JSON.stringify({ data: found.map((proof) => storedProofToWire(proof, timeZone)) }) }
    }
  },
})

const titled = (amounts: Proof['coverage'][number]['owed']) =>
  amounts.map((each) => ({ ...each, title: kindOf(each.kind).title }))

/** As the page shows it: the first items of each difference. */
const proofToWire = (proof: Proof) => ({
  date: proof.date,
  provisional: proof.provisional,
  whole: isWhole(proof),
  accounts: proof.accounts.map(({ differences, ...account }) => ({
    ...account,
    differences: differences.map(({ items, ...each }) => ({ ...each, items: items.slice(0, ITEMS_SHOWN) })),
  })),
  coverage: proof.coverage.map(({ owed, due, ...each }) => ({
    ...each,
    owed: titled(owed),
    due: titled(due),
  })),
})

/** A transaction that proves a day, on one snapshot. */
const proving = <T>(
  services: Services,
  day: string,
  work: (tx: Tx, proof: Proof) => Promise<T>,
): Promise<T> => {
  const { clock, config, database } = services
  const prove = async (tx: Tx) => {
    const today = businessToday(clock.now() + (await furthestAhead(tx)), config.BUSINESS_TIME_ZONE)
    return work(tx, await proveFunds(tx, day, today))
  }
  return database.report(prove, 'repeatable read', 'long')
}

export const showFundsProof = query({
  ...ofDay,
  id: 'console.showFundsProof',
  method: 'GET',
  path: `${PATH}/:date`,
  summary: 'Prove our money at banks at the end of a day',
  description: 'Of now: what the statements say, what the books say, why they differ, and what is owed.',
  takesLong: true,
  result: FundsProofDetail,
  errors: [],
  mount(services) {
    return async ({ params: { date } }) => {
      const proof = await proving(services, readDay('date', date, 'query'), async (_, made) => made)
      return { body: JSON.stringify(proofToWire(proof)) }
    }
  },
})

/** All files of a proof, and the program that verifies them by their hashes. */
async function* filesOf(services: Services, tx: Tx, proof: Proof): AsyncGenerator<ZipFile> {
  const signed = signProof(services.keyring, proof)
  const hashes: Record<string, string> = {}
  for (const { name, lines } of proofFiles(tx, signed)) {
    const hash = createHash('sha256')
    const content = async function* () {
      for await (const line of lines()) {
        hash.update(line)
        yield line
      }
    }
    yield { name, content: content() }
    hashes[name] = hash.digest('hex')
  }
  yield { name: 'proof.json', content: Buffer.from(`${JSON.stringify(signed, null, 2)}\n`) }
  yield { name: 'verify.mjs', content: Buffer.from(await proofProgram(tx, signed, hashes)) }
}

/** What an archive has besides the proof, in the same snapshot. */
type MoreFiles = (tx: Tx) => AsyncIterable<ZipFile>

async function* together(...parts: readonly AsyncIterable<ZipFile>[]): AsyncGenerator<ZipFile> {
  for (const part of parts) yield* part
}

/** The archive of a proof, in a file without a name: no transaction stays open for a slow reader, and nothing is in memory. */
export async function archiveOf(
  services: Services,
  date: string,
  more: MoreFiles = async function* () {},
): Promise<Readable> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-proof-'))
  try {
    const path = join(folder, 'proof.zip')
    const at = new Date(services.clock.now())
    await proving(services, date, (tx, proof) =>
      pipeline(zip(together(filesOf(services, tx, proof), more(tx)), at), createWriteStream(path)),
    )
    return (await open(path)).createReadStream()
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const exportFundsProof = streamingQuery({
  ...ofDay,
  id: 'console.exportFundsProof',
  method: 'GET',
  path: `${PATH}/:date/proof.zip`,
  summary: 'Get the proof of a day with all that it is made of',
  description: 'A ZIP archive of CSV files, the signed proof, and a program that verifies them.',
  takesLong: true,
  result: Type.String({ format: 'binary', description: 'ZIP' }),
  produces: 'application/zip',
  errors: [],
  mount(services) {
    return async (input) => {
      const date = readDay('date', input.params.date, 'query')
      const body = await archiveOf(services, date)
      try {
        await asOperator(services, input, async (tx) =>
          recordAudit(tx, [{ action: 'funds_proof.exported', target: date }]),
        )
      } catch (error) {
        body.destroy()
        throw error
      }
      return { headers: { 'content-type': 'application/zip' }, body }
    }
  },
})
