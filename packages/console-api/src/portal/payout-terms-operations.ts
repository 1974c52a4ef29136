import { fail } from '@svc/contract/errors'
import {
  ChangeRequestRecord,
  changeRequestToWire,
  latestChangeRequests,
  requestChange,
  type WantedChange,
  withdrawChange,
} from '@svc/core/payments/payouts/change-requests'
import { findMerchant } from '@svc/core/tenants/merchant'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import { type Caller, query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, idParam, maybe, maybeInstant, record, text } from '../console-schema.ts'
import { Data } from '../faces/merchant-operations.ts'
import {
  BankAccountFields,
  FeeFields,
  PayoutTerms,
  readFee,
  termsOf,
} from '../faces/payout-terms-operations.ts'
import { keyedQuery } from '../once.ts'
import {
  asMember,
  memberOperation,
  onceAsMember,
  PORTAL_API,
  type PortalServices,
} from './portal-services.ts'

const requireMerchant = ({ tenantId }: Caller): string =>
  kindOfTenant(tenantId) === 'merchant' ? tenantId : fail('route_not_found')

/** Of the operator's people no name is shown. */
const ofMembers = (request: Parameters<typeof changeRequestToWire>[0], timeZone: string) => {
  const shown = changeRequestToWire(request, timeZone)
  return shown.decidedBy?.startsWith('operator ') ? { ...shown, decidedBy: 'the operator' } : shown
}

/** Where payouts go, what is charged, and the address that customers pay to; with what waits. */
export const showOwnPayoutTerms = query({
  ...memberOperation,
  id: 'portal.showPayoutTerms',
  method: 'GET',
  path: `${PORTAL_API}/payout-terms`,
  tag: 'Payouts',
  summary: 'Show bank account, fees, payout schedule and UPI address',
  role: 'viewer',
  result: record('OwnPayoutTerms', {
    ...PayoutTerms.properties,
    vpa: text('UPI address that customers pay to'),
    nextVpa: maybe('The one that takes its place at `nextVpaOn`, unless it is taken back'),
    nextVpaOn: maybeInstant,
    requests: Type.Array(ChangeRequestRecord, {
      description: 'What members asked for, newest first: what waits, and what was decided',
    }),
  }),
  errors: [],
  mount(services: PortalServices) {
    const { config, database } = services
    return async ({ caller }) => {
      const tenantId = requireMerchant(caller)
      const terms = await database.read([tenantId], async (tx) => {
        const merchant = await findMerchant(tx, tenantId)
        const { schedules, ...others } = await termsOf(tx, tenantId, services)
        const requests = await latestChangeRequests(tx, tenantId, 'all')
        return {
          ...others,
          // Of the operator's people no name is shown.
          schedules: schedules.map((schedule) => ({ ...schedule, setBy: 'the operator' })),
          requests: requests.map((request) => ofMembers(request, config.BUSINESS_TIME_ZONE)),
          vpa: merchant?.vpa,
          nextVpa: merchant?.nextVpa ?? undefined,
          nextVpaOn: merchant?.nextVpaFrom
            ? rfc3339(merchant.nextVpaFrom, config.BUSINESS_TIME_ZONE)
            : undefined,
        }
      })
      return { body: JSON.stringify(terms) }
    }
  },
})

const REQUESTS = `${PORTAL_API}/change-requests`
const requestOf = {
  ...memberOperation,
  stepUp: true,
  tag: 'Payouts',
  role: 'admin',
  result: ChangeRequestRecord,
} as const

/** What of it is asked for, once for a form. */
const request =
  <Body>(path: string, wanted: (body: Body) => WantedChange) =>
  (services: PortalServices) =>
  async (input: Parameters<typeof onceAsMember>[2] & { readonly caller: Caller; readonly body: Body }) => {
    const merchantId = requireMerchant(input.caller)
    const { clock, config, random } = services
    return onceAsMember(services, { method: 'POST', path }, input, async (tx) => {
      const tools = { random, now: new Date(clock.now()) }
      const asked = await requestChange(tx, tools, merchantId, wanted(input.body))
      return changeRequestToWire(asked, config.BUSINESS_TIME_ZONE)
    })
  }

const BANK_ACCOUNT = `${REQUESTS}/bank-account`
export const requestBankAccount = keyedQuery({
  ...requestOf,
  id: 'portal.requestBankAccount',
  method: 'POST',
  path: BANK_ACCOUNT,
  summary: 'Ask for another bank account',
  description: 'It waits until the operator approves it; payouts go to the present one until then.',
  body: closed(BankAccountFields),
  errors: ['approval_open'],
  mount: request(BANK_ACCOUNT, ({ holder, number, ifsc }: Record<'holder' | 'number' | 'ifsc', string>) => ({
    accountHolder: holder,
    accountNumber: number,
    ifsc,
  })),
})

const PAYMENT_ADDRESS = `${REQUESTS}/payment-address`
export const requestPaymentAddress = keyedQuery({
  ...requestOf,
  id: 'portal.requestPaymentAddress',
  method: 'POST',
  path: PAYMENT_ADDRESS,
  summary: 'Ask for another UPI address',
  description:
    'It waits until the operator approves it, and then for as long as any new address; QR codes keep the present one until then.',
  body: closed({ vpa: Data.vpa }),
  errors: ['approval_open'],
  mount: request(PAYMENT_ADDRESS, ({ vpa }: { readonly vpa: string }) => ({ vpa })),
})

const FEE = `${REQUESTS}/fee`
export const requestFee = keyedQuery({
  ...requestOf,
  id: 'portal.requestFee',
  method: 'POST',
  path: FEE,
  summary: 'Ask for another fee',
  description:
    'It waits until the operator approves it; then payments are charged by it from the next business day on, or from the same day if there was none yet.',
  body: closed(FeeFields),
  errors: ['approval_open'],
  mount: request(FEE, readFee),
})

export const withdrawChangeRequest = query({
  ...requestOf,
  id: 'portal.withdrawChangeRequest',
  method: 'DELETE',
  path: `${REQUESTS}/:approvalId`,
  summary: 'Take back what was asked for',
  params: idParam('approvalId'),
  errors: ['approval_not_found', 'approval_closed'],
  mount(services: PortalServices) {
    return async (input) => {
      const merchantId = requireMerchant(input.caller)
      const withdrawn = await asMember(services, input, (tx) =>
        withdrawChange(tx, merchantId, input.params.approvalId),
      )
      return { body: JSON.stringify(ofMembers(withdrawn, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})
