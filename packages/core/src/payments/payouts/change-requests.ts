import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import type { RandomBytes } from '@svc/kernel/ids'
import { required } from '@svc/kernel/invariant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  generated,
  instant,
  integer,
  nullable,
  paise,
  type RowOf,
  stamped,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { Type } from 'typebox'
import { updateMerchant } from '../../tenants/merchant.ts'
import { announce, CHANGE_KINDS } from '../../tenants/tenant-events.ts'
import {
  feeDaysOf,
  findPayoutDetails,
  type NewFee,
  setMerchantFee,
  setPayoutDetails,
} from './payout-terms.ts'

type ChangeKind = (typeof CHANGE_KINDS)[number]
const CHANGE_OUTCOMES = ['APPROVED', 'REJECTED', 'WITHDRAWN'] as const
type Outcome = (typeof CHANGE_OUTCOMES)[number]

/** What a merchant asks for by itself; until an operator approves it, what was before holds (decision O8). */
export const changeRequests = table('change_requests', 'c', ['merchantId', 'approvalId'], {
  merchantId: text,
  approvalId: text,
  kind: textOf<ChangeKind>(),
  accountHolder: nullable(text),
  accountNumber: nullable(text),
  ifsc: nullable(text),
  vpa: nullable(text),
  basisPoints: nullable(integer),
  fixedPaise: nullable(paise),
  /** As the audit names them: the database fills who asked and who decided. */
  requestedBy: generated(text),
  requestedAt: stamped(instant),
  outcome: generated(nullable(textOf<Outcome>())),
  reason: generated(nullable(text)),
  decidedBy: generated(nullable(text)),
  decidedAt: generated(nullable(instant)),
})
export type ChangeRequest = RowOf<typeof changeRequests>

export const CHANGE_STATUSES = ['PENDING', ...CHANGE_OUTCOMES] as const

/** What a merchant asks for, as its members and operators see it. */
export const ChangeRequestRecord = Type.Object(
  {
    approvalId: Type.String(),
    kind: Type.Enum(CHANGE_KINDS),
    holder: Type.Optional(Type.String({ description: 'Of the bank account' })),
    ends: Type.Optional(Type.String({ description: 'The last four digits of the account number' })),
    ifsc: Type.Optional(Type.String({ description: 'Code of the branch' })),
    vpa: Type.Optional(Type.String({ description: 'UPI address for its QR codes' })),
    percent: Type.Optional(Type.String({ description: 'Of the amount of each payment, of a fee' })),
    fixed: Type.Optional(Type.String({ description: 'Rupees in addition, of a fee' })),
    status: Type.Enum(CHANGE_STATUSES),
    reason: Type.Optional(Type.String({ description: 'Why it was rejected' })),
    requestedBy: Type.String(),
    requestedOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    decidedBy: Type.Optional(Type.String()),
    decidedOn: Type.Optional(Type.String()),
  },
  { title: 'ChangeRequest', additionalProperties: false },
)

/** The fee that is asked for, with two decimals each. */
const feeOf = ({ basisPoints, fixedPaise }: ChangeRequest) =>
  basisPoints !== null && fixedPaise !== null
    ? { percent: formatRupees(BigInt(basisPoints)), fixed: formatRupees(fixedPaise) }
    : {}

export const changeRequestToWire = (request: ChangeRequest, timeZone: string) => ({
  approvalId: request.approvalId,
  kind: request.kind,
  holder: request.accountHolder ?? undefined,
  ends: request.accountNumber?.slice(-4),
  ifsc: request.ifsc ?? undefined,
  vpa: request.vpa ?? undefined,
  ...feeOf(request),
  status: request.outcome ?? ('PENDING' as const),
  reason: request.reason ?? undefined,
  requestedBy: request.requestedBy,
  requestedOn: rfc3339(request.requestedAt, timeZone),
  decidedBy: request.decidedBy ?? undefined,
  decidedOn: request.decidedAt ? rfc3339(request.decidedAt, timeZone) : undefined,
})

const LIST = statement<ChangeRequest>(
  'change_requests_of_merchant',
  `select ${changeRequests.columns} from change_requests c
   where c.merchant_id = $1 and ($2 or c.outcome is null) order by c.approval_id desc limit 100`,
)
const FIND = statement<ChangeRequest>(
  'change_request_find',
  `select ${changeRequests.columns} from change_requests c
   where c.approval_id = $1 and ($2::text is null or c.merchant_id = $2)`,
)
const DECIDE = statement<ChangeRequest>(
  'change_request_decide',
  `update change_requests c set outcome = $3, reason = $4
   where c.merchant_id = $1 and c.approval_id = $2 and c.outcome is null returning ${changeRequests.columns}`,
)
const WITHDRAW = statement<ChangeRequest>(
  'change_request_withdraw',
  `update change_requests c set outcome = 'WITHDRAWN'
   where c.merchant_id = $1 and c.approval_id = $2 and c.outcome is null returning ${changeRequests.columns}`,
)

/** What is asked for. */
export type WantedChange =
  | Readonly<Record<'accountHolder' | 'accountNumber' | 'ifsc', string>>
  | { readonly vpa: string }
  | Pick<NewFee, 'basisPoints' | 'fixedPaise'>

const kindOf = (wanted: WantedChange): ChangeKind => {
  if ('vpa' in wanted) return 'payment_address'
  return 'basisPoints' in wanted ? 'fee' : 'bank_account'
}

/** The latest of a merchant, the newest first: those that wait, or `all`. */
export const latestChangeRequests = (
  tx: Pick<Tx, 'query'>,
  merchantId: string,
  which: 'waiting' | 'all',
): Promise<ChangeRequest[]> => tx.query(LIST, [merchantId, which === 'all'])

const notify = (tx: Tx, step: string, request: ChangeRequest) => {
  const { merchantId, approvalId, kind, accountNumber, vpa, reason } = request
  announce(tx, merchantId, 'merchant.updated', merchantId, {
    merchantId,
    changed: [step],
    request: {
      approvalId,
      kind,
      ...(accountNumber !== null && { bankAccountEnds: accountNumber.slice(-4) }),
      ...(vpa !== null && { vpa }),
      ...feeOf(request),
      ...(reason !== null && { reason }),
    },
  })
}

/** Asks for a change, on behalf of the merchant's member whom the transaction names. One of a kind waits at a time. */
export async function requestChange(
  tx: Tx,
  { random, now }: { readonly random: RandomBytes; readonly now: Date },
  merchantId: string,
  wanted: WantedChange,
): Promise<ChangeRequest> {
  const kind = kindOf(wanted)
  const open = await latestChangeRequests(tx, merchantId, 'waiting')
  if (open.some((each) => each.kind === kind)) fail('approval_open')
  const approvalId = newId('apv', now.getTime(), random)
  const nothing = {
    accountHolder: null,
    accountNumber: null,
    ifsc: null,
    vpa: null,
    basisPoints: null,
    fixedPaise: null,
  }
  changeRequests.insert(tx, [{ merchantId, approvalId, kind, ...nothing, ...wanted }])
  const [stored] = await tx.query(FIND, [approvalId, merchantId])
  const request = required(stored, 'it was stored')
  notify(tx, 'changeRequested', request)
  return request
}

/** What cannot be decided was decided before, or is not there. */
async function undecided(tx: Tx, approvalId: string, merchantId: string | null): Promise<ChangeRequest> {
  const [found] = await tx.query(FIND, [approvalId, merchantId])
  if (!found) return fail('approval_not_found')
  return found.outcome === null ? found : fail('approval_closed')
}

/** Takes it back, on behalf of the merchant. */
export async function withdrawChange(tx: Tx, merchantId: string, approvalId: string): Promise<ChangeRequest> {
  await undecided(tx, approvalId, merchantId)
  const [withdrawn] = await tx.query(WITHDRAW, [merchantId, approvalId])
  if (!withdrawn) return fail('approval_closed')
  notify(tx, 'changeWithdrawn', withdrawn)
  return withdrawn
}

/** Rejects it; the merchant reads why. */
export async function rejectChange(tx: Tx, approvalId: string, reason: string): Promise<ChangeRequest> {
  const { merchantId } = await undecided(tx, approvalId, null)
  const [rejected] = await tx.query(DECIDE, [merchantId, approvalId, 'REJECTED', reason])
  if (!rejected) return fail('approval_closed')
  notify(tx, 'changeRejected', rejected)
  return rejected
}

/**
 * Approves it, and enters it as the operator would have done: who approves a bank account approves no payouts to it, a
 * payment address waits for its time, and a fee is charged from the first business day that is possible.
 */
export async function approveChange(
  tx: Tx,
  approvalId: string,
  tools: Parameters<typeof feeDaysOf>[0],
): Promise<ChangeRequest> {
  const request = await undecided(tx, approvalId, null)
  const { merchantId, accountHolder, accountNumber, ifsc, vpa, basisPoints, fixedPaise } = request
  const [approved] = await tx.query(DECIDE, [merchantId, approvalId, 'APPROVED', null])
  if (!approved) return fail('approval_closed')
  if (vpa !== null) await updateMerchant(tx, merchantId, { vpa })
  if (accountHolder !== null && accountNumber !== null && ifsc !== null) {
    const gstState = (await findPayoutDetails(tx, merchantId))?.gstState ?? null
    await setPayoutDetails(tx, { merchantId, accountHolder, accountNumber, ifsc, gstState })
  }
  if (basisPoints !== null && fixedPaise !== null) {
    const fee = { merchantId, validFrom: undefined, basisPoints, fixedPaise }
    await setMerchantFee(tx, fee, { ...feeDaysOf(tools, merchantId), isAgreed: true })
  }
  return approved
}
