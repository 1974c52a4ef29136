import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { type Account, account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { enteredReference } from '../../ledger/entered-reference.ts'
import { type Journal, journalOf, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { implausibleDay } from '../../ledger/plausible-day.ts'
import { StoredPaise, storedArgs } from '../../ledger/stored-args.ts'
import { findMerchant } from '../../tenants/merchant.ts'
import { type TdsCertificate, tdsCertificates, yearOfQuarter } from './certificate.ts'

export interface EnterTdsCertificate {
  readonly merchantId: string
  readonly number: string
  readonly quarter: string
  readonly amountPaise: Paise
  readonly datedOn: string
  readonly reason: string
}

interface Prepared extends EnterTdsCertificate, PreparedCommand {
  readonly year: string
  readonly certificateId: string
  readonly transferId: string
  readonly timeZone: string
}

interface State {
  /** Of the merchant. */
  readonly certificates: readonly TdsCertificate[]
  /** That are invoiced to it for the financial year, less credit notes. */
  readonly feesPaise: bigint
  readonly isOpen: boolean
}

export interface EnteredTdsCertificate {
  readonly certificate: TdsCertificate
  /** Absent where it was entered before. */
  readonly journal: Journal | undefined
  readonly opens: readonly Account[]
  readonly command: Prepared
}

const KNOWN = statement<TdsCertificate>(
  'tds_certificates_of_merchant',
  `select ${tdsCertificates.columns} from tds_certificates c where c.merchant_id = $1`,
)
const FEES = statement<{ fees: bigint }>(
  'tds_fees_invoiced',
  `select coalesce(sum(case kind when 'CREDIT_NOTE' then - taxable_paise else taxable_paise end), 0)::bigint as fees
   from tax_documents where merchant_id = $1 and month <= $2::date and month > $2::date - interval '1 year'`,
)

/**
 * Enters that a merchant deducted tax at source on our fees, by its certificate (decision R29). Our fees were deducted
 * whole, so that the tax is payable to the merchant, whose next payout has it. A number is entered once for each merchant, and again where it was taken back.
 */
export const enterTdsCertificate = moneyCommand({
  name: 'enterTdsCertificate',
  batchMax: 1,

  approval: {
    kinds: ['tds_certified'],
    args: storedArgs(
      Type.Object({
        merchantId: Type.String(),
        number: Type.String(),
        quarter: Type.String(),
        amountPaise: StoredPaise,
        datedOn: Type.String(),
        reason: Type.String(),
      }),
    ),
    moves: ({ certificate, command: { reason }, journal }: EnteredTdsCertificate) =>
      journal && {
        kind: 'tds_certified',
        amountPaise: certificate.amountPaise,
        reference: certificate.number,
        facts: { quarter: certificate.quarter, date: certificate.datedOn },
        reason,
        journalId: journal.journalId,
      },
    failures: ['validation_failed', 'merchant_not_found', 'tds_certificate_differs', 'tds_over_fees'],
  },

  prepare:
    ({ config, database, newId }) =>
    async (args: EnterTdsCertificate): Promise<Prepared> => {
      const { year } = yearOfQuarter(args.quarter)
      const number = enteredReference(args.number, 'certificate')
      const merchant = await database.operate((tx) => findMerchant(tx, args.merchantId))
      if (!merchant) return fail('merchant_not_found')
      return {
        ...args,
        number,
        year,
        tenantId: args.merchantId,
        certificateId: newId('tdc'),
        transferId: newId('trf'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx: BatchTx, [command]: readonly Prepared[]): Promise<ByTenant<State>> {
    const { quarter, tenantId } = command!
    const receivable = account('tds_receivable', tenantId)
    // The account of what is payable exists: its lock serializes the certificates of a merchant.
    const [locked, certificates, [row]] = await Promise.all([
      lockAccounts(tx, [account('payable', tenantId), receivable]),
      tx.query(KNOWN, [tenantId]),
      tx.query(FEES, [tenantId, yearOfQuarter(quarter).through]),
    ])
    const isOpen = locked.of(tenantId).has(receivable.accountId)
    return new ByTenant((): State => ({ certificates, feesPaise: row!.fees, isOpen }))
  },

  decide,

  save(tx, [decided]) {
    const { certificate, command, journal, opens } = decided!
    if (!journal) return
    tdsCertificates.insert(tx, [certificate])
    saveJournals(tx, command.timeZone, [journal], opens)
  },
})

function decide(state: State, command: Prepared, now: Date): EnteredTdsCertificate {
  const { amountPaise, certificateId, datedOn, merchantId, number, quarter, reason, transferId } = command
  const entries = state.certificates.filter((each) => each.number === number)
  const known = entries.find(({ reversedBy }) => reversedBy === null)
  if (known) {
    const isSame = known.amountPaise === amountPaise && known.quarter === quarter && known.datedOn === datedOn
    if (!isSame)
      fail('tds_certificate_differs', {
        description: `${number} is of ${known.quarter}, dated ${known.datedOn}, over ${formatRupees(known.amountPaise)}`,
      })
    return { certificate: known, journal: undefined, opens: [], command }
  }
  const problem = implausibleDay(datedOn, calendarDay(now, command.timeZone), 0)
  if (problem !== undefined) failField('date', 'invalid', `must be another day: ${problem}`)
  requireWithinFees(state, command)
  const journal: Journal = {
    ...journalOf(
      {
        transferId,
        tenantId: merchantId,
        kind: 'tds_certified',
        debitAccountId: accountId('tds_receivable', merchantId),
        creditAccountId: accountId('payable', merchantId),
        amountPaise,
        objectId: certificateId,
        createdAt: now,
      },
      entries.length === 0 ? number : `${number}~${entries.length + 1}`,
    ),
    effectiveDate: datedOn,
    reason,
  }
  const { journalId } = journal
  const certificate: TdsCertificate = {
    merchantId,
    certificateId,
    number,
    quarter,
    amountPaise,
    datedOn,
    journalId,
    reversedBy: null,
    createdAt: now,
  }
  const opens = state.isOpen ? [] : [account('tds_receivable', merchantId)]
  return { certificate, journal, opens, command }
}

/** All certificates of a financial year together are at most the fees that are invoiced for it. */
function requireWithinFees({ certificates, feesPaise }: State, { amountPaise, year }: Prepared): void {
  const certified = certificates
    .filter(({ quarter, reversedBy }) => reversedBy === null && quarter.startsWith(`${year}-`))
    .reduce((sum, each) => sum + each.amountPaise, 0n)
  if (certified + amountPaise > feesPaise)
    fail('tds_over_fees', {
      description: `Fees of ${formatRupees(feesPaise)} are invoiced for ${year}, and ${formatRupees(certified)} is certified of it`,
    })
}
