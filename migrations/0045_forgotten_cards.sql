-- run: in batches
-- Dead cards that a change of another kind made due too late, or never: those with a return that waits, by when it is
-- due, and those with money that is not held, at once (decision C21).
update cards c set due_at = w.at
from (
  select r.partner_id, r.svc_card_id, r.due_at as at
  from card_returns r join cards d on d.partner_id = r.partner_id and d.svc_card_id = r.svc_card_id
  where r.status = 'WAITING' and coalesce(d.due_at, 'infinity') > r.due_at
  union all
  select d.partner_id, d.svc_card_id, now()
  from cards d join ledger_accounts l on l.tenant_id = d.partner_id and l.account_id = 'card:' || d.svc_card_id
  where d.ended_at is not null and d.due_at is null
    and l.balance > (
      select coalesce(sum(a.held_paise), 0) from card_authorizations a
      where a.partner_id = d.partner_id and a.svc_card_id = d.svc_card_id and a.status = 'OPEN')
  limit 500) w
where c.partner_id = w.partner_id and c.svc_card_id = w.svc_card_id;
