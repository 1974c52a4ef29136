import { accountIdOf } from '@svc/core/ledger/accounts'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '../http/operation.ts'
import type { ReferenceTenants } from './reference-tenants.ts'

/** Records of the reference's tenants, each in the state in which its example succeeds. */
export interface Records {
  /** Credentials of `reference.json` that work. */
  readonly apiKeyId: string
  readonly clientId: string
  readonly qrCodeId: string
  readonly cancelledCodeId: string
  readonly payoutId: string
  /** Accepted, with an amount that can still be refunded and disputed, and payable to the merchant. */
  readonly paymentId: string
  readonly utr: string
  readonly refundId: string
  readonly refundedPaymentId: string
  readonly disputeId: string
  readonly lostDisputeId: string
  readonly attachmentId: string
  readonly attachedDisputeId: string
  readonly endpointId: string
  readonly deletedEndpointId: string
  readonly eventId: string
  readonly svcCardId: string
  readonly cardToken: string
  readonly lockedCardId: string
  readonly physicalCardId: string
  readonly lostCardId: string
  readonly unwantedCardId: string
  /** Of a meal card account that money may be taken back to. */
  readonly reloadableCardId: string
  readonly spendRuleId: string
  readonly removedRuleId: string
  readonly leavingUserId: string
  readonly virtualAccount: string
  readonly jobId: string
  readonly coinConfigId: string
  readonly otherConfigId: string
  readonly pendingConfigId: string
  readonly allocationId: string
  readonly voidedAllocationId: string
}

/** Those that the database has. */
export type Found = { readonly [Name in keyof Records]: Records[Name] | null }

/** Marks by which records of one kind are distinguished. */
export const MARKS = {
  counter: 'Reference counter',
  cancelled: 'To be cancelled',
  rule: 'Of the reference',
  removedRule: 'To be removed',
  deleted: 'To be deleted',
  holder: 'Nair',
  locked: 'Lock',
  physical: 'Activate',
  lost: 'Replace',
  unwanted: 'Return',
  reloadable: 'Reload',
  leaving: 'Leaving',
  pendingEvent: 'pending.reference',
  coinEvent: 'referral.completed',
  confirmed: 'reference-confirmed',
  voided: 'reference-voided',
} as const

const ENOUGH_PAISE = 100_00
/** A month’s loads of a card have a limit. */
const RELOADED_PAISE = 5_000_00
/** An endpoint may have five secrets at a time; each "Test Request" of the rotation adds one for an hour. */
const SECRETS_MAX = 4

const OF_MERCHANT = statement<Partial<Found>>(
  'reference_records_of_merchant',
  `with payable as materialized (
     select p.payment_id, p.utr from payments p, ${accountIdOf('payable', '$1::text')}
     join ledger_accounts a on a.tenant_id = $1 and a.account_id = key.account_id and a.balance >= ${ENOUGH_PAISE}
     where p.merchant_id = $1 and p.status = 'ACCEPTED'
       and p.amount_paise - p.refund_paise - p.dispute_paise >= ${ENOUGH_PAISE}
     order by p.created_at desc, p.payment_id desc limit 1),
   refund as materialized (
     select refund_id, payment_id from merchant_refunds where merchant_id = $1 order by refund_id limit 1),
   open_disputes as materialized (
     select dispute_id, row_number() over (order by dispute_id) as place from disputes
     where merchant_id = $1 and status = 'OPEN' and evidence_due_at > $3),
   attached as materialized (
     select attachment_id, dispute_id from dispute_attachments where merchant_id = $1 and erased_at is null
     order by attachment_id limit 1),
   code as materialized (
     select qr_code_id, qr_name from qr_codes where merchant_id = $1 and status = 'ACTIVE'
       and qr_name in ('${MARKS.counter}', '${MARKS.cancelled}'))
   select
     (select api_key_id from directory_key_holders(array[$2::bytea]) where tenant_id = $1 and usable) as "apiKeyId",
     (select min(qr_code_id) from code where qr_name = '${MARKS.counter}') as "qrCodeId",
     (select min(qr_code_id) from code where qr_name = '${MARKS.cancelled}') as "cancelledCodeId",
     (select max(payout_id) from payouts where merchant_id = $1) as "payoutId",
     (select payment_id from payable) as "paymentId", (select utr from payable) as utr,
     (select refund_id from refund) as "refundId", (select payment_id from refund) as "refundedPaymentId",
     (select dispute_id from open_disputes where place = 1) as "disputeId",
     (select dispute_id from open_disputes where place = 2) as "lostDisputeId",
     (select attachment_id from attached) as "attachmentId", (select dispute_id from attached) as "attachedDisputeId",
     (select min(e.endpoint_id) from webhook_endpoints e where e.tenant_id = $1 and e.description <> '${MARKS.deleted}'
        and (select count(*) from webhook_secrets s where s.tenant_id = $1 and s.endpoint_id = e.endpoint_id
             and coalesce(s.expires_at > $3, true)) < ${SECRETS_MAX}) as "endpointId",
     (select min(endpoint_id) from webhook_endpoints where tenant_id = $1
        and description = '${MARKS.deleted}') as "deletedEndpointId",
     (select max(event_id) from outbox where tenant_id = $1) as "eventId"`,
)

const OF_PARTNER = statement<Partial<Found>>(
  'reference_records_of_partner',
  `with card as materialized (
     select c.svc_card_id, c.token, c.holder ->> 'lastName' as mark, c.physical, c.activated, c.status, c.replaced_by,
       (select a.balance from ${accountIdOf('card', 'c.svc_card_id')}
        join ledger_accounts a on a.tenant_id = $1 and a.account_id = key.account_id) as balance
     from cards c where c.partner_id = $1),
   main as materialized (
     select svc_card_id, token from card where mark = '${MARKS.holder}' and status = 'UL' and activated
       and balance >= ${ENOUGH_PAISE} order by svc_card_id desc limit 1),
   rule as materialized (
     select spend_rule_id, name from spend_rules where partner_id = $1 and removed_at is null),
   config as materialized (
     select coin_config_id, event from coin_configs where partner_id = $1 and status = 'ACTIVE' and company_id is null)
   select
     (select client_id from directory_oauth_clients(array[$3]) where tenant_id = $1 and usable) as "clientId",
     (select svc_card_id from main) as "svcCardId", (select token from main) as "cardToken",
     (select min(svc_card_id) from card where mark = '${MARKS.locked}' and status = 'UL') as "lockedCardId",
     (select min(svc_card_id) from card where mark = '${MARKS.physical}' and not activated) as "physicalCardId",
     (select min(svc_card_id) from card
      where mark = '${MARKS.lost}' and status = 'UL' and balance > 0 and replaced_by is null) as "lostCardId",
     (select min(svc_card_id) from card c where mark = '${MARKS.unwanted}' and status = 'BL' and balance > 0
        and not exists (select from card_returns r where r.partner_id = $1 and r.svc_card_id = c.svc_card_id)
     ) as "unwantedCardId",
     (select max(svc_card_id) from card where mark = '${MARKS.reloadable}' and status = 'UL'
        and balance between ${ENOUGH_PAISE} and ${RELOADED_PAISE}) as "reloadableCardId",
     (select min(spend_rule_id) from rule where name = '${MARKS.rule}') as "spendRuleId",
     (select min(spend_rule_id) from rule where name = '${MARKS.removedRule}') as "removedRuleId",
     (select min(user_id) from users where partner_id = $1 and first_name = '${MARKS.leaving}') as "leavingUserId",
     (select min(number) from virtual_accounts where partner_id = $1 and card_account_id = $2) as "virtualAccount",
     (select max(job_id) from bulk_jobs where partner_id = $1) as "jobId",
     (select min(coin_config_id) from config where event = '${MARKS.coinEvent}') as "coinConfigId",
     (select min(coin_config_id) from config where event like 'example.%') as "otherConfigId",
     (select min(coin_config_id) from config where event = '${MARKS.pendingEvent}') as "pendingConfigId",
     (select lot_id from coin_lots where partner_id = $1 and request_id = '${MARKS.confirmed}') as "allocationId",
     (select lot_id from coin_lots where partner_id = $1 and request_id = '${MARKS.voided}') as "voidedAllocationId"`,
)

/** Asks the database, each time: what was there before may have been used since. Reads only. */
export function findRecords(
  { clock, database, keyring }: Services,
  { merchant, partner }: ReferenceTenants,
): Promise<Found> {
  const { merchantId, apiKey } = merchant
  const { partnerId, cardAccountId, clientId } = partner
  const digest = keyring.digest('api_key_digest', apiKey)
  return database.read([merchantId, partnerId], async (tx) => {
    const [ofMerchant] = await tx.query(OF_MERCHANT, [
      merchantId,
      digest,
      new Date(clock.of(merchantId).now()),
    ])
    const [ofPartner] = await tx.query(OF_PARTNER, [partnerId, cardAccountId, clientId])
    return { ...ofMerchant, ...ofPartner } as Found
  })
}
