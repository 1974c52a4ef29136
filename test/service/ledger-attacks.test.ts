import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { sendRefund } from '@svc/core/payments/refunds/send-refund'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  approvedBy,
  assignedNotice,
  copyOf,
  forgedRefund,
  hexOf,
  journal,
  keyAndEndpointOf,
  RIGHTS,
  STRANGE,
  saidTo,
} from '../harness/attack-statements.ts'
import { notifyTransfer, numberOf, transferTo } from '../harness/bank-rail.ts'
import { payloadOf } from '../harness/client.ts'
import { newOperator } from '../harness/console.ts'
import { newDispute, notifyDispute } from '../harness/disputes.ts'
import {
  createLogins,
  DOCUMENTED_LOGINS,
  type DocumentedLogin,
  LOGINS_BUT_RAIL,
  withLogin,
} from '../harness/documented-logins.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { giveAccount, giveFee, sendPayoutOf } from '../harness/payouts.ts'
import { invite } from '../harness/portal.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let shop: Shop
let partner: TestPartner
let refundId: string
let unpaidId: string
const cards: string[] = []
beforeAll(async () => {
  await createLogins()
  service = await openService({ env: { APPROVAL_ABOVE_RUPEES: '1000' }, background: false })
  shop = await shopWith(service, 500)
  await giveAccount(service, shop.merchantId)
  const { merchantId } = shop
  const newRefund = async (): Promise<string> =>
    payloadOf(await shop.client.post(shop.path, { amount: 4, referenceNumber: newUtr() })).refundId
  refundId = await newRefund()
  for (const to of ['SENT', 'REFUNDED']) {
    const id = await newRefund()
    const { commands } = service.app.services
    await operatorsOf(commands).open(sendRefund).run({ merchantId, refundId: id, runId: 'rfr_attack' })
    const outcome = { refundId: id, utr: newUtr(), amountPaise: undefined, failureReason: null }
    if (to === 'REFUNDED') await commands.open(completeRefund).run({ read: { outcome } })
  }
  await newDispute(service, shop.paymentId, { amount: 10 })
  expect((await notifyDispute(service, STRANGE)).status).toBe(202)
  await sendPayoutOf(service, shop.merchantId)
  await giveFee(service, shop.merchantId, { basisPoints: 100, fixedPaise: 0n })
  const { tr } = await newCode(service, shop.client)
  unpaidId = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 600 }))).paymentId
  await invite(service, shop.merchantId)
  await asSuperuser(service.db.database, (db) => db.query('update members set waiting_link = link_digest'))
  partner = await newPartner(service, { fundsPaise: 1_000_00n })
  payloadOf(await notifyTransfer(service.client, transferTo(await numberOf(service, partner))))
  const client = await asPartner(service.client, partner)
  for (let n = 0; n < 2; n++) cards.push(payloadOf(await createCard(client, partner)).svcCardId)
  await asSuperuser(service.db.database, (db) => db.query(keyAndEndpointOf(partner.partnerId)))
  await asSuperuser(service.db.database, (db) =>
    db.query(`update approval_limit set administrators_by_two = true; ${assignedNotice(shop)}`),
  )
})
afterAll(() => service.close())
const CRORES = 100_00_00_000_00n
const ofShop = (kind: string) => `${kind}:${shop.merchantId}`
const funding = () =>
  journal(
    partner.partnerId,
    'card_funding',
    [`funding_clearing:${partner.partnerId}`, `card_funding:${partner.cardAccountId}`],
    CRORES,
  )

const said = (login: DocumentedLogin, role: string, text: string): Promise<string> =>
  saidTo(service.db, [shop.merchantId, partner.partnerId], login, role, text)

const ATTACKS: readonly (readonly [string, () => string, readonly string[]])[] = [
  [
    'a forged transfer of the bank',
    () =>
      copyOf('bank_credits', { credit_id: 'bcr_forged', utr: 'FORGED0001', amount_paise: CRORES.toString() }),
    ['stored_by_the_rail'],
  ],
  ['a funding of ₹ 100 crore', funding, ['postings_have_a_source', 'postings_are_approved']],
  [
    'a notice that became a payment, for another one',
    () => `update rail_notices set payment_id = '${unpaidId}' where notice_id = 'assigned'`,
    ['ended_notices_stay'],
  ],
  [
    'the approval of who is no operator',
    () => approvedBy(shop.merchantId, 'cli mallory@laptop'),
    ['approved_by_a_second_person'],
  ],
  [
    'a journal of an invented kind',
    () => journal(shop.merchantId, 'gift', [ofShop('upi_clearing'), ofShop('payable')], CRORES),
    ['postings_are_permitted'],
  ],
  [
    'a known kind between other accounts',
    () => journal(shop.merchantId, 'merchant_refund', [ofShop('upi_clearing'), ofShop('payable')], CRORES),
    ['postings_are_permitted'],
  ],
  [
    'a credit that no notice reported',
    () => journal(shop.merchantId, 'upi_credit', [ofShop('upi_clearing'), ofShop('payable')], 100),
    ['postings_are_counted', 'postings_have_a_source', 'postings_are_proven'],
  ],
  [
    'an outcome of a refund that no notice reported',
    () => `update merchant_refunds set outcome_notice = '{}' where refund_id = '${refundId}'`,
    ['outcomes_were_received'],
  ],
  [
    'an outcome of a dispute that no notice reported',
    () => `update disputes set outcome_notice = '{}'`,
    ['outcomes_were_received'],
  ],
  [
    'a payout that is born approved',
    () =>
      copyOf('payouts', {
        payout_id: 'pyt_forged',
        status: 'APPROVED',
        approved_by: 'operator puppet',
        amount_paise: CRORES.toString(),
        run_id: null,
        sent_at: null,
      }),
    ['payouts_are_of_operators', 'payout_steps_are_taken'],
  ],
  [
    'a payout of more than its lines and journal',
    () => `update payouts set amount_paise = amount_paise + 1`,
    [],
  ],
  [
    'a refund that is born sent',
    () => copyOf('merchant_refunds', { refund_id: 'rfd_forged', status: 'SENT' }),
    ['refund_steps_are_taken'],
  ],
  [
    'a payment that no notice reported',
    () => copyOf('payments', { payment_id: 'pay_forged', utr: 'FORGED0002' }),
    ['payments_were_notified'],
  ],
  [
    'a forged notice in quarantine',
    () =>
      `insert into rail_notices (tenant_id, notice_id, body, status, reason, flags, received_at)
       values ('${shop.merchantId}', 'rnt_forged', '{}', 'QUARANTINED', 'unreadable', '{}', now())`,
    ['notices_were_received'],
  ],
  [
    'a forged dispute',
    () => copyOf('disputes', { dispute_id: 'dsp_forged', case_reference: 'FORGED' }),
    ['notices_were_received'],
  ],
  [
    'a dispute whose reference is a part of that of another notice',
    () => copyOf('disputes', { dispute_id: 'dsp_part', case_reference: '4711', notice: hexOf(STRANGE) }),
    ['notices_were_received'],
  ],
  [
    'a forged message of the card network',
    () => copyOf('card_messages', { message_id: 'cmg_forged' }),
    ['stored_by_the_rail'],
  ],
  ['a bare balance', () => `update ledger_accounts set balance = balance + 100`, []],
  [
    'an account that is born rich',
    () =>
      `insert into ledger_accounts (account_id, tenant_id, kind, unit, balance, floor, created_at)
       values ('suspense:rich', '${shop.merchantId}', 'suspense', 'INR', ${CRORES}, 0, now())`,
    ['accounts_are_charted'],
  ],
  [
    'an account that calls itself another',
    () =>
      `insert into ledger_accounts (account_id, tenant_id, kind, unit, balance, floor, created_at)
       values ('suspense:other', '${shop.merchantId}', 'bank', 'INR', 0, null, now())`,
    ['accounts_are_charted'],
  ],
  [
    'the money of one card on another',
    () => journal(partner.partnerId, 'card_replacement', [`card:${cards[0]}`, `card:${cards[1]}`], 100),
    ['postings_are_proven'],
  ],
  [
    'money that the card network never gave back',
    () =>
      journal(
        partner.partnerId,
        'card_refund',
        [`card_settlement:${partner.partnerId}`, `card:${cards[0]}`],
        CRORES,
      ),
    ['postings_have_a_source', 'postings_are_proven'],
  ],
  [
    'money of a card that waits for nobody',
    () =>
      journal(
        partner.partnerId,
        'card_unclaimed',
        [`card:${cards[0]}`, `unclaimed:${partner.partnerId}`],
        100,
        { object: cards[0]! },
      ),
    ['postings_are_proven'],
  ],
  [
    'a public key to which the cards of a partner are encrypted',
    () => `update partner_encryption_keys set material = 'mine' where kind = 'public'`,
    ['public_keys_stay'],
  ],
  [
    'a limit that is lifted',
    () => 'update approval_limit set above_paise = null',
    ['approval_limit_is_the_owners'],
  ],
  [
    'a cooling time that is shortened',
    () => 'update approval_limit set cooling_days = -1',
    ['approval_limit_is_the_owners'],
  ],
  [
    'that one administrator is enough',
    () => 'update approval_limit set administrators_by_two = false',
    ['approval_limit_is_the_owners'],
  ],
  [
    'a refund that was made and is to be sent again',
    () => `update merchant_refunds set status = 'PENDING', completed_at = null where status = 'REFUNDED'`,
    ['states_have_a_source'],
  ],
  [
    'a refund that failed without a journal',
    () =>
      `update merchant_refunds set status = 'FAILED', failure_reason = 'x', completed_at = now() where status = 'SENT'`,
    ['states_have_a_source', 'states_are_posted'],
  ],
  [
    'a refund that went to the bank in another run',
    () => `update merchant_refunds set run_id = 'rfr_other' where status = 'SENT'`,
    ['states_have_a_source', 'runs_are_named_once'],
  ],
  [
    'a payout that went to the bank in another run',
    () => `update payouts set run_id = 'run_other' where status = 'SENT'`,
    ['payouts_are_of_operators', 'runs_are_named_once'],
  ],
  [
    'a payout that was sent, of which the lines are due again',
    () => 'update payout_lines set released = true',
    ['by_an_operator', 'states_are_posted'],
  ],
  [
    'a payment of which more can be refunded',
    () => `update payments set adjusted_paise = ${CRORES}`,
    ['states_have_a_source', 'states_are_posted'],
  ],
  [
    'a correction without a journal',
    () =>
      `insert into payment_adjustments (merchant_id, adjustment_id, payment_id, amount_paise, change_paise, advanced_paise,
         reference, reason, created_at)
       values ('${shop.merchantId}', 'adj_forged', '${shop.paymentId}', ${CRORES}, ${CRORES}, 0, 'FORGED', 'x', now())`,
    ['by_an_operator', 'states_are_posted'],
  ],
  [
    'an accepted payment that the bank is to return',
    () => `update payments set dispute_paise = 0, refund_paise = 0, status = 'REFUND_PENDING', reason = 'x'`,
    ['states_have_a_source'],
  ],
  [
    'a dispute that is won without a journal',
    () => `update disputes set status = 'WON', closed_at = now()`,
    ['states_have_a_source', 'states_are_posted'],
  ],
  [
    'a funding that is taken back without legs, so that it can be entered again',
    () =>
      `insert into journals (tenant_id, journal_id, kind, effective_date, reverses, legs, at)
       select tenant_id, 'jrn_legless', 'journal_reversal', current_date, journal_id, 1, now() from journals
       where kind = 'card_funding' limit 1`,
    ['reversals_have_legs'],
  ],
  ['an API key of a tenant with another secret', () => `update api_keys set digest = sha256('mine')`, []],
  [
    'an OAuth client with another secret',
    () => `update oauth_clients set secret_digest = sha256('mine')`,
    [],
  ],
  ['the keys of a tenant in the name of another one', () => `update api_keys set tenant_id = tenant_id`, []],
  ['an operator under another name', () => `update operators set name = 'other'`, []],
  ['a request that another one made', () => `update approvals set requested_by = 'operator puppet'`, []],
  [
    'a link for an administrator that another one made',
    () => `update operator_invitations set created_by = 'operator puppet'`,
    [],
  ],
  ['a passkey of an operator with another key', () => `update operator_passkeys set public_key = ''`, []],
  [
    'a fee that the merchant never agreed to',
    () =>
      `insert into fee_accruals (merchant_id, payment_id, business_day, journal_id, fee_paise, cgst_paise, sgst_paise,
         igst_paise, tax_basis_points)
       select merchant_id, payment_id, current_date, 'jrn_01k0attack0000000000000012', 40000, 3600, 3600, 0, 1800 from payments
       where payment_id = '${unpaidId}';
       insert into journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
       values ('${shop.merchantId}', 'jrn_01k0attack0000000000000012', 'fee_accrual', current_date, 'x', 1, now());`,
    ['charged_by_the_schedule'],
  ],
  [
    'a fee that is not charged',
    () =>
      `insert into fee_accruals (merchant_id, payment_id, business_day, journal_id, fee_paise, cgst_paise, sgst_paise,
         igst_paise, tax_basis_points)
       values ('${shop.merchantId}', '${unpaidId}', current_date, null, 0, 0, 0, 0, 1800)`,
    ['charged_by_the_schedule'],
  ],
  ['a session of another operator', () => `update operator_sessions set operator_id = operator_id`, []],
  ['a session of another member', () => `update member_sessions set member_id = member_id`, []],
  [
    'a link that no second administrator approved',
    () => 'update members set waiting_link = null',
    ['links_wait'],
  ],
  [
    'a movement more that is permitted',
    () => `insert into posting_rules values ('x', 'x', 'bank', 'bank', 'program', false, false)`,
    [],
  ],
]

test.each(ATTACKS)(
  'PostgreSQL rejects %s, whichever documented login writes it',
  async (_, attack, constraints) => {
    for (const [login, role] of LOGINS_BUT_RAIL)
      expect([login, role, await said(login, role, attack())]).toEqual([
        login,
        role,
        expect.toSatisfy((answer: string) => answer === RIGHTS || constraints.includes(answer)),
      ])
  },
)

test('each attack is stopped by its rule somewhere, and not only by missing rights', async () => {
  for (const [name, attack, constraints] of ATTACKS) {
    const answers = await Promise.all(LOGINS_BUT_RAIL.map(([login, role]) => said(login, role, attack())))
    if (constraints.length > 0)
      expect([name, answers.some((answer) => constraints.includes(answer))]).toEqual([name, true])
  }
})

test('a refund is sent to the bank by operators alone', async () => {
  const send = `update merchant_refunds set status = 'SENT', run_id = 'x', sent_at = now() where refund_id = '${refundId}'`
  for (const login of ['service', 'rail'] as const)
    expect(await said(login, 'svc_service', send)).toBe('refund_steps_are_taken')
})

test('more than a payment is not refunded, nor what is disputed of it, whatever the service’s login asks for', async () => {
  const refund = (n: number, paise: number) => forgedRefund(shop, n, paise)
  const opened = `insert into ledger_accounts (account_id, tenant_id, kind, unit, balance, floor, created_at)
    values ('${ofShop('merchant_advances')}', '${shop.merchantId}', 'merchant_advances', 'INR', 0, null, now())
    on conflict do nothing`
  expect(await said('service', 'svc_service', opened)).toBe('accepted')
  const send = `update merchant_refunds set status = 'SENT', run_id = 'x', sent_at = now()
    where status = 'PENDING' and reference_number like 'MORE%'`
  const payment = `where payment_id = '${shop.paymentId}'`
  const disputed = `update payments set dispute_paise = 0, refund_paise = 495_00 ${payment}`
  expect(await said('service', 'svc_service', disputed)).toBe('accepted')
  expect(await said('service', 'svc_service', refund(3, 483_00))).toBe('accepted')
  expect(await said('operators', 'svc_service', send)).toBe('refund_steps_are_taken')
  for (const n of [1, 2]) expect(await said('service', 'svc_service', refund(n, 450_00))).toBe('accepted')
  expect(await said('service', 'svc_service', `update payments set refund_paise = 490_00 ${payment}`)).toBe(
    'accepted',
  )
  expect(await said('operators', 'svc_service', send)).toBe('refund_steps_are_taken')
})

test('who sets nothing new of a bank account does not count as who set it', async () => {
  const setBy = async (who: string, change: string) => {
    const text = `select set_config('svc.actor', 'operator ${who}', true);
      update payout_details set ${change} where merchant_id = '${shop.merchantId}'`
    expect(await said('operators', 'svc_operator', text)).toBe('accepted')
    return (
      await asSuperuser(service.db.database, (db) =>
        db.query<{ by: string }>(
          `select set_by as by from payout_details where merchant_id = '${shop.merchantId}'`,
        ),
      )
    ).rows[0]?.by
  }
  expect(await setBy('mallory', `account_number = '99999999'`)).toBe('operator mallory')
  expect(await setBy('asha', `gst_state = '27', updated_at = now()`)).toBe('operator mallory')
  expect(await setBy('asha', `account_holder = 'Asha'`)).toBe('operator asha')
})

test('the login of the rails stores what is signed, and decides nothing', async () => {
  // One that is there: only its key is in the way.
  const again = 'insert into bank_credits select * from bank_credits limit 1'
  expect(await said('rail', 'svc_service', again)).toMatch(/^(?:bank_credits_pkey|one_bank_credit_per_utr)$/)
  const decided = journal(
    partner.partnerId,
    'card_withdrawal',
    [`card_funding:${partner.cardAccountId}`, `funding_clearing:${partner.partnerId}`],
    100,
  )
  expect(await said('rail', 'svc_service', decided)).toBe('postings_have_a_source')
})

test('the operators’ login has the rights of one role at a time', async () => {
  for (const role of DOCUMENTED_LOGINS.operators.roles)
    await withLogin(service.db, 'operators', role, async (client) => {
      await client.query('reset role; set role none')
      await expect(client.query('select from svc.journals')).rejects.toMatchObject({ code: RIGHTS })
    })
})

test('what a person signs in with, a key of a partner and where its events go are not changed by hand without an entry that names the login', async () => {
  const { operatorId } = await newOperator(service, 'finance')
  const { memberId } = await invite(service, shop.merchantId)
  const session = (columns: string, values: string) =>
    `(digest, created_at, seen_at, authenticated_at, expires_at, factors, address, user_agent, ${columns})
     values (sha256('mine'), now(), now(), now(), now() + interval '1 hour', '{password}', '', '', ${values})`
  for (const [role, text, action] of [
    [
      'svc_operator',
      `update operators set password_hash = 'mine' where operator_id = '${operatorId}'`,
      'operator.password_changed',
    ],
    [
      'svc_operator',
      `insert into operator_sessions ${session('operator_id', `'${operatorId}'`)}`,
      'operator.signed_in',
    ],
    [
      'svc_service',
      `update members set password_hash = 'mine' where member_id = '${memberId}'`,
      'member.password_changed',
    ],
    [
      'svc_service',
      `update members set link_digest = sha256('mine') where member_id = '${memberId}'`,
      'member.changed',
    ],
    [
      'svc_service',
      `insert into member_sessions ${session('tenant_id, member_id', `'${shop.merchantId}', '${memberId}'`)}`,
      'member.signed_in',
    ],
    [
      'svc_operator',
      `update partner_encryption_keys set material = 'mine' where kind = 'shared'`,
      'encryption_key.changed',
    ],
    ['svc_service', `update webhook_endpoints set url = 'https://mine.example'`, 'webhook_endpoint.changed'],
  ] as const) {
    expect([text, await said('operators', role, text)]).toEqual([text, 'accepted'])
    const [entry] = await asSuperuser(service.db.database, async (db) => {
      const last = `select action, target, content::jsonb ->> 'login' as login from audit_log order by sequence desc limit 1`
      return (await db.query(last)).rows
    })
    const target = { operator: operatorId, member: memberId }[action.split('.')[0]!] ?? expect.any(String)
    expect(entry).toEqual({ action, target, login: DOCUMENTED_LOGINS.operators.user })
  }
})
