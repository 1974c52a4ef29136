import { formatRupees } from '@svc/kernel/money'
import { calendarDay, rfc3339 } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { bigint, day, flag, instant, integer, type RowOf, table, text } from '@svc/platform/db/table'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { type ImportTools, matchOpenLines } from './import-statement.ts'
import { failuresOf, proveFunds, signProof } from './proof.ts'

const MATCH_EVERY_MS = 60_000
const PROVE_EVERY_MS = 900_000
/** So many days are proven again when a statement comes that was missing. */
const DAYS_BACK = 7

/** Proofs of funds as they were signed each night. */
export const fundsProofs = table('funds_proofs', 'p', ['tenantId', 'provenOn', 'version'], {
  tenantId: text,
  provenOn: day,
  /** 1, 2, 3 … of the day. */
  version: integer,
  provisional: flag,
  /** Of all purposes together; never below zero. */
  unexplainedPaise: bigint,
  /** What escrow accounts have less than is owed out of them. */
  shortfallPaise: bigint,
  /** A compact JWS, which has all of it. */
  signed: text,
  createdAt: instant,
})
export type StoredProof = RowOf<typeof fundsProofs>

const LIST = statement<StoredProof>(
  'funds_proofs_list',
  `select ${fundsProofs.columns} from funds_proofs p
   where not exists (
     select from funds_proofs n where n.tenant_id = p.tenant_id and n.proven_on = p.proven_on and n.version > p.version)
   order by p.proven_on desc limit $1`,
)
// Two processes that prove at once: the second one sees what the first one stored.
const LOCK = statement(
  'funds_proofs_lock',
  `select pg_advisory_xact_lock(hashtextextended('funds_proofs', 0))`,
)
// Days that are over and have no proof, or one to which a statement or a posting has come.
const DUE = statement<{ day: string; version: number }>(
  'funds_proofs_due',
  `select d.day::date::text as day, coalesce(p.version, 0) as version
   from generate_series(
       greatest($1::date - ${DAYS_BACK}, (select min(opened_on) from bank_accounts)), $1::date - 1, interval '1 day') d (day)
     left join lateral (
       select * from funds_proofs p where p.tenant_id = '${PLATFORM_TENANT}' and p.proven_on = d.day::date
       order by p.version desc limit 1) p on true
   where p.version is null or (p.provisional or p.unexplained_paise <> 0 or p.shortfall_paise <> 0) and exists (
     select from bank_statements s where s.imported_at > p.created_at)
   order by 1`,
)

/** The latest of each day, newest first. */
export const listProofs = (tx: Tx, limit: number): Promise<StoredProof[]> => tx.query(LIST, [limit])

export const storedProofToWire = (proof: StoredProof, timeZone: string) => ({
  date: proof.provenOn,
  version: proof.version,
  provisional: proof.provisional,
  unexplained: formatRupees(proof.unexplainedPaise),
  shortfall: formatRupees(proof.shortfallPaise),
  signed: proof.signed,
  provenOn: rfc3339(proof.createdAt, timeZone),
})

/** Proves each day that is over, and again when a missing statement has come. Returns how many. */
export async function proveDueDays(
  services: Pick<CoreServices, 'config' | 'database' | 'keyring' | 'clock'>,
) {
  const { config, database, clock } = services
  const today = calendarDay(new Date(clock.now()), config.BUSINESS_TIME_ZONE)
  const due = await database.report((tx) => tx.query(DUE, [today]))
  for (const { day: provenOn } of due) await proveDay(services, provenOn, today)
  return due.length
}

async function proveDay(
  { database, keyring, clock }: Pick<CoreServices, 'database' | 'keyring' | 'clock'>,
  provenOn: string,
  today: string,
): Promise<void> {
  const proof = await database.report((tx) => proveFunds(tx, provenOn, today), 'repeatable read', 'long')
  await database.operate(async (tx) => {
    await tx.query(LOCK)
    const due = await tx.query(DUE, [today])
    const of = due.find((each) => each.day === provenOn)
    if (!of) return
    fundsProofs.insert(tx, [storedProof(keyring, proof, of.version + 1, new Date(clock.now()))])
  })
}

const storedProof = (
  keyring: Keyring,
  proof: Parameters<typeof signProof>[1],
  version: number,
  createdAt: Date,
): StoredProof => ({
  tenantId: PLATFORM_TENANT,
  provenOn: proof.date,
  version,
  provisional: proof.provisional,
  ...failuresOf(proof),
  signed: signProof(keyring, proof).signed,
  createdAt,
})

const toolsOf = ({ database, random, clock, config }: CoreServices): ImportTools => ({
  database,
  random,
  nowMs: () => clock.now(),
  timeZone: config.BUSINESS_TIME_ZONE,
})

/** Lines whose payout, batch or funding has become known since they were imported. */
export const matchStatementsLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'match_statements',
      everyMs: MATCH_EVERY_MS,
      work: () => matchOpenLines(toolsOf(services)),
      atStart: true,
    },
    services,
  )

export const proveFundsLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'prove_funds',
      everyMs: PROVE_EVERY_MS,
      work: async () => {
        await proveDueDays(services)
      },
      atStart: true,
    },
    services,
  )
