import { allEventsKept, type Check, check, settledOutside, subjects } from '../../ledger/reconcile.ts'

export const CARDS = subjects('cards', 'cards')
const AUTHORIZATIONS = subjects('card authorisations', 'card_authorizations')
const MESSAGES = subjects('card messages', 'card_messages')
const SPEND_COUNTERS = subjects('spend counters', 'spend_counters')
const EXCEPTION_ACCOUNTS = subjects(
  'card exception accounts',
  `ledger_accounts where kind = 'card_exceptions'`,
)

/** What must be true of the messages of the card network, their holds and their money (decision R1). */
export const CARD_RAIL_CHECKS: readonly Check[] = [
  check(
    'card_holds',
    CARDS,
    'The open holds of a card are within its balance, unless the network forced one while it stood in',
    (chosen) => `select c.svc_card_id as subject, 'balance ' || l.balance || ', held ' || h.held as detail
       from cards c join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id
       cross join lateral (
         select coalesce(sum(a.held_paise), 0) as held, coalesce(bool_or(a.forced and a.status = 'OPEN'), false) as forced
         from card_authorizations a where a.partner_id = c.partner_id and a.svc_card_id = c.svc_card_id) h
       where h.held > l.balance and not h.forced and ${chosen('c.svc_card_id')} limit 100`,
  ),
  check(
    'card_authorizations',
    AUTHORIZATIONS,
    'What was captured of an authorisation is what its captures and forced posts say',
    (
      chosen,
    ) => `select a.authorization_id as subject, 'captured ' || a.captured_paise || ', its messages ' || m.captured
         as detail
       from card_authorizations a
       cross join lateral (
         select coalesce(sum(m.amount_paise), 0) as captured from card_messages m
         where m.partner_id = a.partner_id and m.svc_card_id = a.svc_card_id and m.authorization_id = a.authorization_id
           and m.event_type = 'card.captured') m
       where a.captured_paise <> m.captured and ${chosen('a.authorization_id')} limit 100`,
  ),
  check(
    'spend_counters',
    SPEND_COUNTERS,
    'What spend rules have counted on a day is what authorisations of that day took and hold',
    (chosen) => `with counted as (
         select a.partner_id, c.counter, a.counted_on as day, sum(a.captured_paise + a.held_paise)::bigint as amount,
           count(*) filter (where a.captured_paise + a.held_paise > 0) as authorizations
         from card_authorizations a cross join unnest(a.counters) as c (counter)
         where ${chosen('c.counter')} group by 1, 2, 3)
       select counter as subject, day || ': counted ' || coalesce(s.amount_paise, 0) || ' in '
         || coalesce(s.authorizations, 0) || ', authorised ' || coalesce(k.amount, 0) || ' in '
         || coalesce(k.authorizations, 0) as detail
       from (select * from spend_counters s where ${chosen('s.counter')}) s
         full join counted k using (partner_id, counter, day)
       where (coalesce(s.amount_paise, 0), coalesce(s.authorizations, 0))
         is distinct from (coalesce(k.amount, 0), coalesce(k.authorizations, 0)) limit 100`,
  ),
  check(
    'card_messages',
    MESSAGES,
    'Every message moved what it says between its card and the network, and refunds what its capture shows',
    (
      chosen,
    ) => `select m.message_id as subject, 'debited ' || m.debited_paise || ', credited ' || m.credited_paise
         || ', moved ' || t.debited || ' and ' || t.credited || ', refunded ' || m.refunded_paise || ' and ' || r.refunded
         as detail
       from card_messages m
       cross join lateral (
         select coalesce(sum(t.amount) filter (where t.kind = 'card_spend'
             and t.debit_account_id = 'card:' || m.svc_card_id), 0) as debited,
           coalesce(sum(t.amount) filter (where t.kind = 'card_refund'
             and t.credit_account_id = 'card:' || m.svc_card_id), 0) as credited
         from ledger_transfers t
         where t.tenant_id = m.partner_id and t.journal_id = 'jrn_' || substr(m.message_id, 5)) t
       cross join lateral (
         select coalesce(sum(r.credited_paise), 0) as refunded from card_messages r
         where r.partner_id = m.partner_id and r.svc_card_id = m.svc_card_id and r.type = 'refund'
           and r.capture_id = m.message_id) r
       where (m.debited_paise, m.credited_paise, m.refunded_paise) is distinct from (t.debited, t.credited, r.refunded)
         and ${chosen('m.message_id')} limit 100`,
  ),
  check(
    'card_transactions',
    CARDS,
    'The transactions of a card are its authorisations and each movement of its money, and add up to its balance',
    (
      chosen,
    ) => `select c.svc_card_id as subject, 'balance ' || l.balance || ', its transactions ' || t.moved || '; movements '
         || g.movements || ' and ' || t.movements || ', authorisations ' || m.authorizations || ' and ' || t.authorizations
         as detail
       from cards c join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id
       cross join lateral (
         select coalesce(sum(t.moved_paise), 0) as moved, count(t.moved_paise) as movements,
           count(*) filter (where t.kind = 'authorization') as authorizations
         from card_transactions t where t.partner_id = c.partner_id and t.svc_card_id = c.svc_card_id) t
       cross join lateral (
         select (select count(*) from ledger_transfers g where g.debit_account_id = l.account_id)
           + (select count(*) from ledger_transfers g where g.credit_account_id = l.account_id) as movements) g
       cross join lateral (
         select count(*) as authorizations from card_messages m
         where m.partner_id = c.partner_id and m.svc_card_id = c.svc_card_id
           and (m.type = 'authorization' or m.type = 'advice' and m.event_type = 'card.authorized')) m
       where (l.balance, g.movements, m.authorizations) is distinct from (t.moved, t.movements, t.authorizations)
         and ${chosen('c.svc_card_id')} limit 100`,
  ),
  check(
    'card_exceptions',
    EXCEPTION_ACCOUNTS,
    'The account of exceptions has what the exceptions say, less what was settled or written off',
    (
      chosen,
    ) => `select l.account_id as subject, 'balance ' || l.balance || ', exceptions ' || e.amount || ', settled ' || s.amount as detail
       from ledger_accounts l
       cross join lateral (
         select coalesce(sum(e.credit_paise - e.debit_paise), 0) as amount from card_exceptions e
         where e.partner_id = l.tenant_id) e
       cross join lateral ${settledOutside('l')} s
       where l.kind = 'card_exceptions' and l.balance <> e.amount + s.amount and ${chosen('l.account_id')} limit 100`,
  ),
  check(
    'card_message_events',
    CARDS,
    'An event was published for each message of the card network and for each hold that expired',
    (chosen) => `with happened as (
         select c.svc_card_id,
           (select count(*) from card_messages m where m.partner_id = c.partner_id and m.svc_card_id = c.svc_card_id
             and m.event_type is not null) as messages,
           (select count(*) from card_authorizations a where a.partner_id = c.partner_id
             and a.svc_card_id = c.svc_card_id and a.status = 'EXPIRED') as expired
         from cards c
         where ${chosen('c.svc_card_id')} and ${allEventsKept('c.partner_id', 'c.created_at')}),
       published as (
         select object_id as svc_card_id, count(*) filter (where payload ? 'messageId') as messages,
           count(*) filter (where type = 'card.hold_expired') as expired
         from outbox where ${chosen('object_id')} group by object_id)
       select svc_card_id as subject, 'happened: ' || h::text || ', published: ' || coalesce(t::text, 'nothing') as detail
       from happened h left join published t using (svc_card_id)
       where (h.messages, h.expired) is distinct from (coalesce(t.messages, 0), coalesce(t.expired, 0)) limit 100`,
  ),
]
