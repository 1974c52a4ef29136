import { ByTenant } from '@svc/kernel/by-tenant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

/** How often one reference may be entered: again after each reversal. */
const ENTRIES_MAX = 9

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
    return new EnteredFundings(references.length === 0 ? [] : await tx.query(ENTERED, [references]))
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
