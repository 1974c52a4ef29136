import { ByTenant } from '@svc/kernel/by-tenant'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'

/** How often one reference may be entered: again after each reversal. */
const ENTRIES_MAX = 9

/** Of two transactions that enter the same references one waits, whichever partners they are for. */
const LOCK = statement(
  'lock_funding_references',
  `select pg_advisory_xact_lock(hashtextextended('card_funding ' || r, 0))
   from (select distinct unnest($1::text[]) as r order by r) as sorted`,
)

/** What was entered under a bank's reference. */
export interface BankEntry {
  readonly tenantId: string
  readonly reference: string
  readonly journalId: string
  readonly transferId: string
  /** What it is of, such as the card account. */
  readonly objectId: string
  /** Of the journal and its transfer, where they were read of one tenant. */
  readonly kind?: string
  readonly debitAccountId?: string
  readonly creditAccountId?: string
  readonly amountPaise: bigint
  readonly createdAt: Date
  readonly isReversed: boolean
}

// Entered again after a reversal, a reference has a number behind it: `AXIS0042~2`.
const INCOMING = statement<BankEntry>(
  'directory_fundings',
  `select partner_id as "tenantId", reference, journal_id as "journalId", transfer_id as "transferId",
     card_account_id as "objectId", amount_paise as "amountPaise", created_at as "createdAt",
     reversed as "isReversed"
   from directory_fundings($1)`,
)

/** An entry of one of these kinds of journals, by its reference. */
interface Wanted {
  readonly tenantId: string
  readonly kinds: readonly string[]
  readonly reference: string
}

const WANTED = `(select distinct * from unnest($1::text[], $2::text[], $3::text[])) as w (tenant_id, kind, reference)
   cross join generate_series(1, ${ENTRIES_MAX}) as entry
   join journals j on j.tenant_id = w.tenant_id and j.kind = w.kind
     and j.reference = w.reference || case when entry = 1 then '' else '~' || entry end`
const REVERSED = `exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)`

// Of tenants whose rows this transaction may read.
const ENTERED = statement<BankEntry>(
  'entries_by_reference',
  `select j.tenant_id as "tenantId", w.reference, j.journal_id as "journalId", t.transfer_id as "transferId",
     t.object_id as "objectId", j.kind, t.debit_account_id as "debitAccountId",
     t.credit_account_id as "creditAccountId", t.amount as "amountPaise", t.created_at as "createdAt",
     ${REVERSED} as "isReversed"
   from ${WANTED}
   join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id`,
)

const keysOf = (wanted: readonly Wanted[]) =>
  columns(
    wanted.flatMap(({ kinds, ...rest }) => kinds.map((kind) => ({ kind, ...rest }))),
    ({ tenantId }) => tenantId,
    ({ kind }) => kind,
    ({ reference }) => reference,
  )

export interface Entered {
  /** How often the reference was entered. */
  readonly times: number
  /** The entry that was not reversed. */
  readonly standing: BankEntry | undefined
}

const NEVER: Entered = { times: 0, standing: undefined }

/** What was entered under references of banks, by tenant. */
export class BankEntries {
  readonly #byTenant = new ByTenant(() => new Map<string, Entered>())
  readonly #standing: BankEntry[] = []

  constructor(found: readonly BankEntry[]) {
    for (const entry of found) this.add(entry)
  }

  /**
   * Money that came in, for whichever tenant: fundings, advances that merchants repaid, and what settled late payouts and
   * refunds. Call it after the ledger accounts of the tenants are locked: then it has what others entered.
   */
  static async readIncoming(tx: Tx, references: readonly string[]): Promise<BankEntries> {
    if (references.length === 0) return new BankEntries([])
    const [, found] = await Promise.all([tx.query(LOCK, [references]), tx.query(INCOMING, [references])])
    return new BankEntries(found)
  }

  /** The same of kinds whose references are of one tenant, such as those of outgoing transfers. */
  static async read(tx: Tx, wanted: readonly Wanted[]): Promise<BankEntries> {
    return new BankEntries(await tx.query(ENTERED, keysOf(wanted)))
  }

  of(tenantId: string, reference: string): Entered {
    return this.#byTenant.of(tenantId).get(reference) ?? NEVER
  }

  /** The standing entries of a reference, of whichever tenant (decision R15). */
  everywhere(reference: string): readonly BankEntry[] {
    return this.#standing.filter((entry) => entry.reference === reference)
  }

  add(entry: BankEntry): void {
    const { times, standing } = this.of(entry.tenantId, entry.reference)
    if (!entry.isReversed) this.#standing.push(entry)
    this.#byTenant
      .of(entry.tenantId)
      .set(entry.reference, { times: times + 1, standing: entry.isReversed ? standing : entry })
  }
}

/** The reference of the next entry; `undefined` when it was entered too often. */
export function nextEntry(reference: string, { times }: Entered): string | undefined {
  if (times >= ENTRIES_MAX) return undefined
  return times === 0 ? reference : `${reference}~${times + 1}`
}

/** The bank's reference of an entry. */
export const referenceOf = (entry: string): string => entry.replace(/~\d$/, '')
