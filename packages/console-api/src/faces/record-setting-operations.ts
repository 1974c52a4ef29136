import { fail } from '@svc/contract/errors'
import { readRecordSettings } from '@svc/core/cards/account/update-record-settings'
import { findPartner } from '@svc/core/tenants/partner'
import { RecordSettingsRecord, updateRecordSettingsContract } from '@svc/server/cards/record-settings'
import { query } from '@svc/server/http/operation'
import { CONSOLE_API, consoleOperation, idParam } from '../console-schema.ts'
import { onBehalf } from '../on-behalf.ts'

const path = `${CONSOLE_API}/partners/:partnerId/record-settings`
const params = idParam('partnerId')

export const showRecordSettings = query({
  ...consoleOperation,
  id: 'console.showRecordSettings',
  method: 'GET',
  path,
  tag: 'Card accounts',
  summary: 'Show what the records of a partner’s cards say',
  permission: 'view',
  params,
  result: RecordSettingsRecord,
  errors: ['partner_not_found'],
  mount({ database }) {
    return async ({ params: { partnerId } }) => {
      const settings = await database.operate(async (tx) => {
        if (!(await findPartner(tx, partnerId))) fail('partner_not_found')
        return readRecordSettings(tx, partnerId)
      })
      return { body: JSON.stringify(settings) }
    }
  },
})

export const updateRecordSettingsInConsole = onBehalf(updateRecordSettingsContract, {
  id: 'console.updateRecordSettings',
  path,
  params,
  permission: 'operations',
  action: 'partner.record_settings_changed',
  errors: ['partner_not_found'],
  tenantOf: async (input, { database }) => {
    const { partnerId } = input.params as { readonly partnerId: string }
    return ((await database.operate((tx) => findPartner(tx, partnerId))) ?? fail('partner_not_found'))
      .partnerId
  },
  target: ({ partnerId }) => partnerId,
})
