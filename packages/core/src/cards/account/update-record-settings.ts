import { command } from '@svc/platform/command'
import type { Tx, Writes } from '@svc/platform/db/database'
import { instant, json, type RowOf, table, text } from '@svc/platform/db/table'
import { changedSettings, type RecordSettings, type RecordSettingsChange } from './record-settings.ts'

/** What the records of a partner’s cards say where their card account does not (decision C27). */
export const partnerRecordSettings = table('partner_record_settings', 's', ['partnerId'], {
  partnerId: text,
  recordSettings: json<RecordSettings>(),
  modifiedAt: instant,
})
type Row = RowOf<typeof partnerRecordSettings>

export interface UpdateRecordSettings {
  readonly partnerId: string
  readonly change: RecordSettingsChange
}

type Decision = Row & { readonly isFirst: boolean }

const LOCK = partnerRecordSettings.lock('to_change')
const saveSettings = partnerRecordSettings.updates(['recordSettings', 'modifiedAt'])

/** Changes what all cards of a partner say. */
export const updateRecordSettings = command({
  name: 'updateRecordSettings',
  prepare: () => (args: UpdateRecordSettings) => ({ ...args, tenantId: args.partnerId }),
  lock: (tx, commands) => partnerRecordSettings.lockRows<Row>(tx, LOCK, commands),
  decide(known, { partnerId, change }, modifiedAt): Decision {
    const before = known.get(partnerId)
    const recordSettings = changedSettings(before?.recordSettings ?? {}, change)
    return { partnerId, recordSettings, modifiedAt, isFirst: !before }
  },
  apply: (known, decision) => void known.set(decision.partnerId, decision),
  save,
})

function save(tx: Writes, decisions: readonly Decision[]): void {
  const last = new Map(decisions.map((decision) => [decision.partnerId, decision]))
  const first = new Set(decisions.filter(({ isFirst }) => isFirst).map(({ partnerId }) => partnerId))
  const rows = [...last.values()].map(({ isFirst: _isFirst, ...row }) => row)
  // Of two at once in two batches, the second fails as not unique, and is run again behind the first.
  partnerRecordSettings.insert(
    tx,
    rows.filter(({ partnerId }) => first.has(partnerId)),
  )
  saveSettings(
    tx,
    rows.filter(({ partnerId }) => !first.has(partnerId)),
  )
}

export async function readRecordSettings(tx: Tx, partnerId: string): Promise<RecordSettings> {
  const [found] = await tx.query(partnerRecordSettings.find, partnerRecordSettings.keys([{ partnerId }]))
  return found?.recordSettings ?? {}
}
