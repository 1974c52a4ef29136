import { readRecordSettings, updateRecordSettings } from '@svc/core/cards/account/update-record-settings'
import { Type } from 'typebox'
import { commandContract, operation, query, succeedWithCode } from '../http/operation.ts'
import { SettingsGiven, SettingsShown, settingsIn } from './setting-fields.ts'

const PATH = '/api/v0/partner/record-settings'

export const RecordSettingsRecord = Type.Object(SettingsShown, {
  title: 'RecordSettings',
  additionalProperties: false,
})

const shared = {
  path: PATH,
  tag: 'Card accounts',
  auth: 'partner',
  envelope: 'code',
  result: RecordSettingsRecord,
} as const

/** Not in the specification (decision C27). */
export const getRecordSettings = query({
  ...shared,
  id: 'getRecordSettings',
  method: 'GET',
  summary: 'Get settings of card records',
  description: 'What the records of your cards say where their card account states nothing of its own.',
  scope: 'cards:read',
  errors: [],
  mount({ database }) {
    return async ({ caller: { tenantId } }) => ({
      body: succeedWithCode(await database.read([tenantId], (tx) => readRecordSettings(tx, tenantId))),
    })
  },
})

/** Not in the specification (decision C27). */
export const updateRecordSettingsContract = commandContract({
  ...shared,
  id: 'updateRecordSettings',
  method: 'PATCH',
  summary: 'Change settings of card records',
  description:
    'What the records of your cards say where their card account states nothing of its own. Fields that are absent stay as they are; `null` unsets one. Records of cards that were issued before change too.',
  scope: 'cards:write',
  body: Type.Object(SettingsGiven, { additionalProperties: false }),
  errors: [],
  run: updateRecordSettings,
  args: ({ caller, body }) => ({ partnerId: caller.tenantId, change: settingsIn(body) }),
  reply: ({ recordSettings }, { ok }) => ok(recordSettings),
})
export const updateRecordSettingsOperation = operation(updateRecordSettingsContract)
