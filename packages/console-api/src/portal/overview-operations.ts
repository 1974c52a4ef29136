import { accountId } from '@svc/core/ledger/accounts'
import { findMerchant, withdrawAddress } from '@svc/core/tenants/merchant'
import { findPartner } from '@svc/core/tenants/partner'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { type Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { maybe, maybeInstant, record, rupeesText, text } from '../console-schema.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

const Takings = record('Takings', {
  count: Type.Integer({ description: 'Payments accepted on that day of the business zone' }),
  amount: rupeesText,
})

interface DayRow {
  readonly day: 'today' | 'yesterday'
  readonly count: number
  readonly paise: bigint
}

const DAYS = statement<DayRow>(
  'portal_takings',
  `select case when p.created_at >= d.today then 'today' else 'yesterday' end as day, count(*)::int as count,
     sum(p.amount_paise)::bigint as paise
   from payments p, (select date_trunc('day', clock_timestamp(), $2) as today) d
   where p.merchant_id = $1 and p.status = 'ACCEPTED' and p.created_at >= d.today - interval '1 day'
   group by 1`,
)
const BALANCE = statement<{ balance: bigint }>(
  'portal_account_balance',
  'select balance from ledger_accounts where tenant_id = $1 and account_id = $2',
)

async function ofMerchant(tx: Tx, merchantId: string, timeZone: string) {
  const merchant = await findMerchant(tx, merchantId)
  const days = await tx.query(DAYS, [merchantId, timeZone])
  const [payable] = await tx.query(BALANCE, [merchantId, accountId('payable', merchantId)])
  const takings = (wanted: DayRow['day']) => {
    const found = days.find(({ day }) => day === wanted)
    return { count: found?.count ?? 0, amount: formatRupees(found?.paise ?? 0n) }
  }
  return {
    merchant: {
      vpa: merchant?.vpa,
      nextVpa: merchant?.nextVpa ?? undefined,
      nextVpaOn: merchant?.nextVpaFrom ? rfc3339(merchant.nextVpaFrom, timeZone) : undefined,
      accessKey: merchant?.accessKey,
      payable: formatRupees(payable?.balance ?? 0n),
      today: takings('today'),
      yesterday: takings('yesterday'),
    },
  }
}

/** What a tenant sees first. */
export const showPortalOverview = query({
  ...memberOperation,
  id: 'portal.showOverview',
  method: 'GET',
  path: `${PORTAL_API}/overview`,
  tag: 'Overview',
  summary: 'How the tenant is doing',
  role: 'viewer',
  result: record('PortalOverview', {
    merchant: Type.Optional(
      record('MerchantOverview', {
        vpa: text('UPI address of payees'),
        nextVpa: maybe('The address that an operator entered in its place; it waits until `nextVpaOn`'),
        nextVpaOn: maybeInstant,
        accessKey: text('`merchantAccessKey` of the API; no secret'),
        payable: rupeesText,
        today: Takings,
        yesterday: Takings,
      }),
    ),
    partner: Type.Optional(record('PartnerOverview', { products: Type.Array(text()) })),
  }),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }: PortalServices) {
    return async ({ caller: { tenantId } }) => {
      const overview = await database.read([tenantId], async (tx) =>
        kindOfTenant(tenantId) === 'merchant'
          ? ofMerchant(tx, tenantId, timeZone)
          : { partner: { products: (await findPartner(tx, tenantId))?.products ?? [] } },
      )
      return { body: JSON.stringify(overview) }
    }
  },
})

export const withdrawPaymentAddress = query({
  ...memberOperation,
  id: 'portal.withdrawPaymentAddress',
  stepUp: true,
  method: 'DELETE',
  path: `${PORTAL_API}/next-payment-address`,
  tag: 'Overview',
  summary: 'Take back the UPI address that an operator entered and that waits',
  description: 'The present address stays. Without one that waits it does nothing.',
  role: 'admin',
  result: record('WithdrawnAddress', { vpa: maybe('The address that stays; absent for partners') }),
  errors: [],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId } = input.caller
      const merchant = await asMember(services, input, async (tx) => {
        await withdrawAddress(tx, tenantId)
        return findMerchant(tx, tenantId)
      })
      return { body: JSON.stringify({ vpa: merchant?.vpa }) }
    }
  },
})
