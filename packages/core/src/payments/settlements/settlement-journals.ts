import { required } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { accountId } from '../../ledger/accounts.ts'
import { type Journal, journalOf } from '../../ledger/journals.ts'
import type { SettlementLine } from './settlement-line.ts'

type Place = Pick<SettlementLine, 'fileId' | 'line'>

interface Made {
  readonly transferId: string
  readonly tenantId: string
  readonly createdAt: Date
}

/** Where a line stands; it is recorded once, so its place names a journal. */
export const placeOf = ({ fileId, line }: Place): string => `${fileId}/${line}`

/** The bank has corrected a line: what it had moved goes back. The journal of it may have moved other lines too. */
export const settlementReversal = (
  previous: Place & Pick<SettlementLine, 'amountPaise' | 'journalId'>,
  made: Made,
): Journal =>
  journalOf(
    {
      ...made,
      kind: 'bank_settlement_reversed',
      debitAccountId: accountId('upi_clearing', made.tenantId),
      creditAccountId: accountId('bank', made.tenantId),
      amountPaise: previous.amountPaise,
      objectId: required(previous.journalId ?? undefined, 'a matched line has a journal'),
    },
    placeOf(previous),
  )

const REVERSED = statement<{ tenantId: string; place: string }>(
  'settlement_lines_reversed',
  `select w.tenant_id as "tenantId", w.place from unnest($1::text[], $2::text[]) as w (tenant_id, place)
     join journals j on j.tenant_id = w.tenant_id and j.kind = 'bank_settlement_reversed' and j.reference = w.place`,
)

/** Which of these lines of files were corrected by later ones: they say nothing any more. */
export const reversedPlaces = (tx: Tx, places: readonly (Place & { readonly tenantId: string })[]) =>
  tx.query(
    REVERSED,
    columns(
      places,
      ({ tenantId }) => tenantId,
      (line) => placeOf(line),
    ),
  )
