import { fail } from '@svc/contract/errors'
import type { ByTenant } from '@svc/kernel/by-tenant'
import { required } from '@svc/kernel/invariant'
import { formatRupees, paise } from '@svc/kernel/money'
import { type Account, accountId } from '../../ledger/accounts.ts'
import type { AccountKind } from '../../ledger/chart-of-accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { JournalKind } from '../../ledger/posting-rules.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { type PreparedMovement, type Share, TAX_ACCOUNTS, type TaxAccount } from './movement.ts'

/** Of the accounts that exist, of all tenants. */
export type Balances = ReadonlyMap<string, bigint>

export type Leg = readonly [debit: AccountKind, credit: AccountKind, paise: bigint]

/** What a movement enters. */
export interface Plan {
  readonly kind: JournalKind
  /** Of the platform: what the bank moves. */
  readonly legs: readonly Leg[]
  /** What of it is whose; the platform's own is what is left. */
  readonly shares: readonly (Share & { readonly leg: (share: Share) => Leg })[]
  readonly sharesKind?: JournalKind
  readonly escrowPaise: bigint
  readonly ownFundsPaise: bigint
  readonly taxPaise: bigint
}

export const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n)

/** What it moves, reckoned from what is ours; throws where that does not fit. */
export function planOf(command: PreparedMovement, balances: Balances): Plan {
  const { amountPaise = 0n, kind } = command
  const stated = { shares: [], taxPaise: 0n }
  switch (kind) {
    case 'SWEEP':
      return sweep(command)
    case 'GST':
      return gst(command, balances)
    case 'TDS':
      return refund(command)
    case 'OWNER':
      return {
        ...stated,
        kind: 'owner_paid',
        legs: [['owner_equity', 'own_funds', amountPaise]],
        escrowPaise: 0n,
        ownFundsPaise: 0n - amountPaise,
      }
    case 'CAPITAL':
      return {
        ...stated,
        kind: 'owner_paid',
        legs: [['own_funds', 'owner_equity', amountPaise]],
        escrowPaise: 0n,
        ownFundsPaise: amountPaise,
      }
    case 'ESCROW':
      return {
        ...stated,
        kind: 'escrow_paid',
        legs: [['bank', 'own_funds', amountPaise]],
        escrowPaise: amountPaise,
        ownFundsPaise: 0n - amountPaise,
      }
  }
}

/** Without the platform's. */
export const ofTenants = (shares: readonly Share[]): Share[] =>
  shares.filter(({ tenantId }) => tenantId !== PLATFORM_TENANT)

function sweep({ escrowPaise, shares }: PreparedMovement): Plan {
  const total = sum(shares.map((share) => share.paise))
  if (total <= 0n) fail('nothing_to_sweep')
  if (total > escrowPaise)
    fail('escrow_too_low', {
      description: `${formatRupees(total)} is ours, and the escrow account of merchants has ${formatRupees(escrowPaise)}`,
    })
  return {
    kind: 'own_funds_swept',
    legs: [['own_funds', 'bank', total]],
    shares: ofTenants(shares).map((share) => ({
      ...share,
      leg: ({ paise: amount }) => ['own_funds', 'bank', amount],
    })),
    sharesKind: 'sweep_shared',
    escrowPaise: -total,
    ownFundsPaise: total,
    taxPaise: 0n,
  }
}

/** Of tax that merchants deducted: whose certificates it is set against. */
function refund(command: PreparedMovement): Plan {
  const { amountPaise = 0n, shares } = command
  const certified = sum(shares.map((share) => share.paise))
  if (certified < amountPaise)
    fail('tds_not_due', {
      description: `Merchants have certified ${formatRupees(certified)} that is not refunded`,
    })
  return {
    kind: 'tds_refunded',
    legs: [['own_funds', 'tds_receivable', amountPaise]],
    shares: shares.map((share) => ({
      ...share,
      leg: ({ paise: amount }) => ['own_funds', 'tds_receivable', amount],
    })),
    sharesKind: 'tds_shared',
    escrowPaise: 0n,
    ownFundsPaise: amountPaise,
    taxPaise: 0n,
  }
}

const NAME_OF: Readonly<Record<TaxAccount, string>> = {
  output_cgst: 'CGST',
  output_sgst: 'SGST',
  output_igst: 'IGST',
}

function gst({ month, shares, taxes = [] }: PreparedMovement, balances: Balances): Plan {
  const due = new Map(
    TAX_ACCOUNTS.map((kind) => [
      kind,
      sum(shares.filter(({ account }) => account === kind).map((share) => share.paise)),
    ]),
  )
  // What credit notes give back beyond what is due is set against a later month.
  const wanted = (kind: TaxAccount): bigint => (due.get(kind)! > 0n ? due.get(kind)! : 0n)
  const given = (kind: TaxAccount) => taxes.filter(({ account }) => account === kind)
  const paid = (kind: TaxAccount): bigint => sum(given(kind).map((tax) => tax.cashPaise + tax.creditPaise))
  if (
    TAX_ACCOUNTS.some((kind) => paid(kind) !== wanted(kind)) ||
    TAX_ACCOUNTS.every((kind) => wanted(kind) === 0n)
  ) {
    const amounts = TAX_ACCOUNTS.map((kind) => `${NAME_OF[kind]} ${formatRupees(wanted(kind))}`).join(', ')
    fail('gst_not_due', { description: `Until the end of ${month} is due: ${amounts}` })
  }
  const credit = sum(taxes.map(({ creditPaise }) => creditPaise))
  const available = 0n - (balances.get(accountId('gst_input', PLATFORM_TENANT)) ?? 0n)
  if (credit > available)
    fail('gst_credit_too_low', { description: `The input credit is ${formatRupees(available)}` })
  const cash = sum(taxes.map(({ cashPaise }) => cashPaise))
  const declared = TAX_ACCOUNTS.filter((kind) => wanted(kind) > 0n)
  return {
    kind: 'gst_paid',
    legs: taxes.flatMap(({ account, cashPaise, creditPaise }): Leg[] => [
      [account, 'own_funds', cashPaise],
      [account, 'gst_input', creditPaise],
    ]),
    shares: ofTenants(shares)
      .filter(({ account }) => declared.some((kind) => kind === account))
      .map((share) => ({ ...share, leg: ({ account, paise: amount }) => [account, 'own_funds', amount] })),
    sharesKind: 'gst_shared',
    escrowPaise: 0n,
    ownFundsPaise: -cash,
    taxPaise: cash + credit,
  }
}

interface Entered {
  readonly at: Date
  readonly movedOn: string
}

type Entries = Pick<Plan, 'kind' | 'legs' | 'shares' | 'sharesKind'>
type Named = Pick<PreparedMovement, 'movementId' | 'newTransferId' | 'reason' | 'reference'>

/** The journal of the whole first; then shares of the tenants, and the platform's of them all, the other way round. */
export function journalsOf(plan: Entries, command: Named, entered: Entered): Journal[] {
  const whole = required(
    journal(PLATFORM_TENANT, plan.kind, plan.legs, command, entered),
    'a movement has an amount',
  )
  const { shares, sharesKind } = plan
  if (sharesKind === undefined || shares.length === 0) return [whole]
  const legsOf = new Map<string, Leg[]>([[PLATFORM_TENANT, []]])
  for (const share of shares) {
    const [debit, credit, amount] = share.leg(share)
    legsOf.set(share.tenantId, [...(legsOf.get(share.tenantId) ?? []), [debit, credit, amount]])
    legsOf.get(PLATFORM_TENANT)!.push([credit, debit, amount])
  }
  const parts = [...legsOf].map(([tenantId, legs]) =>
    journal(tenantId, sharesKind, tenantId === PLATFORM_TENANT ? added(legs) : legs, command, entered),
  )
  return [whole, ...parts.flatMap((each) => each ?? [])]
}

/** Legs between the same accounts as one. */
function added(legs: readonly Leg[]): Leg[] {
  const totals = new Map<string, Leg>()
  for (const [debit, credit, amount] of legs) {
    const key = `${debit} ${credit}`
    totals.set(key, [debit, credit, (totals.get(key)?.[2] ?? 0n) + amount])
  }
  return [...totals.values()]
}

/** A leg of a negative amount goes the other way; one of nothing is left out. */
function journal(
  tenantId: string,
  kind: JournalKind,
  legs: readonly Leg[],
  { movementId, newTransferId, reason, reference }: Named,
  { at, movedOn }: Entered,
): Journal | undefined {
  const moved = legs.filter(([, , amount]) => amount !== 0n)
  if (moved.length === 0) return undefined
  const ids = moved.map(newTransferId)
  return {
    tenantId,
    journalId: `jrn_${ids[0]!.slice(4)}`,
    kind,
    effectiveDate: movedOn,
    reference,
    reverses: null,
    reason,
    at,
    transfers: moved.map(([debit, credit, amount], i) => ({
      transferId: ids[i]!,
      tenantId,
      kind,
      debitAccountId: accountId(amount > 0n ? debit : credit, tenantId),
      creditAccountId: accountId(amount > 0n ? credit : debit, tenantId),
      amountPaise: paise(amount > 0n ? amount : 0n - amount),
      objectId: movementId,
      createdAt: at,
    })),
  }
}

/** Balances of accounts that are locked. */
export const balancesOf = (
  accounts: readonly Account[],
  locked: ByTenant<ReadonlyMap<string, bigint>>,
): Balances =>
  new Map(
    accounts.flatMap(({ accountId: id, tenantId }) => {
      const balance = locked.of(tenantId).get(id)
      return balance === undefined ? [] : [[id, balance] as const]
    }),
  )
