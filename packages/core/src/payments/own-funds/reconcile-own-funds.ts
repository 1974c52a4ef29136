import { type Check, check, subjects } from '../../ledger/reconcile.ts'

const MOVEMENTS = subjects('movements of own funds', 'own_funds_movements')
const YEAR_ENDS = subjects('year ends', 'year_ends')

/** What some tenants' shares of a movement `m` add to our account; `among` is a condition on a column with their ids. */
export const sharesOfMovement = (among: (column: string) => string): string =>
  `coalesce((select sum(case when t.debit_account_id like 'own\\_funds:%' then t.amount else - t.amount end)
     from ledger_transfers t
     where t.object_id = m.movement_id and t.kind in ('sweep_shared', 'gst_shared', 'tds_shared') and ${among('t.tenant_id')}), 0)`

/** What some tenants' shares of a year end `y` add to the owner's equity; `among` is a condition on a column with their ids. */
export const sharesOfYearEnd = (among: (column: string) => string): string =>
  `coalesce((select sum(case when t.credit_account_id like 'owner\\_equity:%' then t.amount else - t.amount end)
     from ledger_transfers t
     where t.object_id = y.year_end_id and t.kind = 'year_end_shared' and ${among('t.tenant_id')}), 0)`

/** What must be true of our own money (decision R26). */
export const OWN_FUNDS_CHECKS: readonly Check[] = [
  check(
    'own_funds',
    MOVEMENTS,
    'A movement of our funds has the journal of the whole, with its amounts and day, or was taken back with all of it; shares of tenants add up to nothing',
    (chosen) => `with legs as (
         select t.object_id, t.tenant_id, t.journal_id, t.kind, t.amount, s.of_kind, s.sign
         from ledger_accounts a cross join lateral (
           select * from ledger_transfers d where d.debit_account_id = a.account_id
           union all
           select * from ledger_transfers c where c.credit_account_id = a.account_id) t
         cross join lateral (values (split_part(t.debit_account_id, ':', 1), 1),
           (split_part(t.credit_account_id, ':', 1), -1)) s (of_kind, sign)
         where a.kind in ('own_funds', 'gst_input')),
       moved as (
         select l.object_id,
           coalesce(sum(l.sign * l.amount) filter (where l.of_kind = 'own_funds' and l.kind not like '%shared'), 0) as own,
           coalesce(sum(l.sign * l.amount) filter (where l.of_kind = 'bank' and l.kind not like '%shared'), 0) as escrow,
           coalesce(sum(l.sign * l.amount) filter (where l.of_kind like 'output%' and l.kind not like '%shared'), 0) as tax,
           coalesce(sum(l.sign * l.amount) filter (where l.of_kind = 'own_funds' and l.kind like '%shared'), 0) as shared
         from legs l group by l.object_id)
       select m.movement_id as subject, m.kind || ': own funds ' || m.own_funds_paise || ', escrow ' || m.escrow_paise
           || '; journals ' || coalesce(v.own, 0) || ' and ' || coalesce(v.escrow, 0) || ', shares ' || coalesce(v.shared, 0)
           || ' and in other cells ' || m.moved_paise || ', taken back by ' || coalesce(m.reversed_by, 'none') as detail
       from own_funds_movements m left join moved v on v.object_id = m.movement_id
         left join journals j on j.tenant_id = m.tenant_id and j.journal_id = m.journal_id
         left join journals r on r.tenant_id = m.tenant_id and r.reverses = m.journal_id
         cross join lateral (values (case when m.reversed_by is null then 1 else 0 end)) w (stands)
       where ${chosen('m.movement_id')} and ((v.own, v.escrow, v.tax, v.shared + m.moved_paise)
           is distinct from (m.own_funds_paise * w.stands, m.escrow_paise * w.stands, m.tax_paise * w.stands, 0)
         or (split_part(j.reference, '~', 1), j.effective_date) is distinct from (m.reference, m.moved_on)
         or (r.journal_id, r.kind) is distinct from (m.reversed_by, case w.stands when 0 then 'own_funds_taken_back' end))
         limit 100`,
  ),
  check(
    'year_ends',
    YEAR_ENDS,
    'A year end has the journal of the whole, of its profit and day; shares of tenants add up to nothing',
    (
      chosen,
    ) => `select y.year_end_id as subject, y.through || ': profit ' || y.profit_paise || ', journal ' || l.profit
           || ', shares ' || ${sharesOfYearEnd(() => 'true')} || ' and in other cells ' || y.moved_paise as detail
       from year_ends y
         left join journals j on j.tenant_id = y.tenant_id and j.journal_id = y.journal_id and j.kind = 'year_end'
         cross join lateral (
           select coalesce(sum(case when t.credit_account_id = 'owner_equity:' || y.tenant_id then t.amount
             else - t.amount end), 0) as profit
           from ledger_transfers t where t.tenant_id = j.tenant_id and t.journal_id = j.journal_id) l
       where ${chosen('y.year_end_id')} and (l.profit <> y.profit_paise or j.effective_date is distinct from y.through
         or ${sharesOfYearEnd(() => 'true')} + y.moved_paise <> 0) limit 100`,
  ),
  check(
    'year_end_journals',
    YEAR_ENDS,
    'Each journal of a year end has its day and reference',
    (
      chosen,
    ) => `select distinct y.year_end_id as subject, j.journal_id || ' of ' || j.effective_date as detail
       from year_ends y join ledger_transfers t on t.object_id = y.year_end_id
         join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
       where ${chosen('y.year_end_id')} and (j.effective_date <> y.through or j.kind not in ('year_end', 'year_end_shared')
         or j.reference is distinct from (extract(year from y.through) - 1) || to_char(y.through, '-YY')
           || case when y.place > 1 then '~' || y.place else '' end) limit 100`,
  ),
]
