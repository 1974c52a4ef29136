import { canonicalReference } from '@svc/kernel/bank-reference'
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

/** A funding under a bank's reference. */
export interface Funding {
  readonly partnerId: string
  readonly reference: string
  readonly journalId: string
  readonly transferId: string
  readonly cardAccountId: string
  readonly amountPaise: bigint
  readonly createdAt: Date
  readonly isReversed: boolean
}

// Entered again after a reversal, a reference has a number behind it: `AXIS0042~2`.
const ENTERED = statement<Funding>(
  'directory_fundings',
  `select partner_id as "partnerId", reference, journal_id as "journalId", transfer_id as "transferId",
     card_account_id as "cardAccountId", amount_paise as "amountPaise", created_at as "createdAt",
     reversed as "isReversed"
   from directory_fundings($1)`,
)

// Of partners whose rows this transaction may read.
const WITHDRAWN = statement<Funding>(
  'withdrawals_by_reference',
  `select j.tenant_id as "partnerId", w.reference, j.journal_id as "journalId", t.transfer_id as "transferId",
     t.object_id as "cardAccountId", t.amount as "amountPaise", t.created_at as "createdAt",
     exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id) as "isReversed"
   from (select distinct * from unnest($1::text[], $2::text[])) as w (tenant_id, reference)
   cross join generate_series(1, ${ENTRIES_MAX}) as entry
   join journals j on j.tenant_id = w.tenant_id and j.kind = 'card_withdrawal'
     and j.reference = w.reference || case when entry = 1 then '' else '~' || entry end
   join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id`,
)

const STANDING = statement(
  'card_movement_standing',
  `select from generate_series(1, ${ENTRIES_MAX}) as entry
   join journals j on j.tenant_id = $1 and j.kind = $2
     and j.reference = $3 || case when entry = 1 then '' else '~' || entry end
   where not exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)
   limit 1`,
)

export interface Entered {
  /** How often the reference was entered. */
  readonly times: number
  /** The entry that was not reversed. */
  readonly standing: Funding | undefined
}

const NEVER: Entered = { times: 0, standing: undefined }

/** What was entered under references of banks, by partner. */
export class EnteredFundings {
  readonly #byPartner = new ByTenant(() => new Map<string, Entered>())
  readonly #standing: Funding[] = []

  constructor(found: readonly Funding[]) {
    for (const funding of found) this.add(funding)
  }

  /** Call it after the ledger accounts of the partners are locked: then it has what others entered. */
  static async read(tx: Tx, references: readonly string[]): Promise<EnteredFundings> {
    if (references.length === 0) return new EnteredFundings([])
    const [, found] = await Promise.all([tx.query(LOCK, [references]), tx.query(ENTERED, [references])])
    return new EnteredFundings(found)
  }

  /** The same of withdrawals, whose references are those of outgoing transfers. */
  static async readWithdrawals(
    tx: Tx,
    withdrawals: readonly { readonly partnerId: string; readonly reference: string }[],
  ): Promise<EnteredFundings> {
    const keys = columns(
      withdrawals,
      ({ partnerId }) => partnerId,
      ({ reference }) => reference,
    )
    return new EnteredFundings(await tx.query(WITHDRAWN, keys))
  }

  of(partnerId: string, reference: string): Entered {
    return this.#byPartner.of(partnerId).get(reference) ?? NEVER
  }

  /** The standing entries of a reference, of whichever partner (decision R15). */
  everywhere(reference: string): readonly Funding[] {
    return this.#standing.filter((funding) => funding.reference === reference)
  }

  add(funding: Funding): void {
    const { times, standing } = this.of(funding.partnerId, funding.reference)
    if (!funding.isReversed) this.#standing.push(funding)
    this.#byPartner
      .of(funding.partnerId)
      .set(funding.reference, { times: times + 1, standing: funding.isReversed ? standing : funding })
  }
}

/** The reference of the next entry; `undefined` when it was entered too often. */
export function nextEntry(reference: string, { times }: Entered): string | undefined {
  if (times >= ENTRIES_MAX) return undefined
  return times === 0 ? reference : `${reference}~${times + 1}`
}

/**
 * For operators: whether money was entered under a bank's reference, by hand or by the bank's own notice, and was not
 * reversed. The command then posts nothing: it returns what stands, or refuses what differs from it.
 */
export const isEntered = async (
  tx: Tx,
  kind: 'card_funding' | 'card_withdrawal',
  { partnerId, reference }: { readonly partnerId: string; readonly reference: string },
): Promise<boolean> => (await tx.query(STANDING, [partnerId, kind, canonicalReference(reference)])).length > 0
