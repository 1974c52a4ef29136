import { type Config, SETTINGS } from '@svc/contract/config'
import type { Setting } from '@svc/contract/setting'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, listOf, maybe, record, text } from '../console-schema.ts'

/** What is in force, as one would write it; `undefined`: not set, or nothing to be shown in a line. */
function shown(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(String).join(', ')
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : undefined
}

const asText = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part))

/** Each setting with what is in force. Of secrets only whether they are set. */
const settingsOf = (config: Config) =>
  Object.entries(SETTINGS as Readonly<Record<string, Setting<unknown, string | undefined>>>).map(
    ([name, { default: byDefault, meaning, read, secret = false, type }]) => {
      const value = (config as Readonly<Record<string, unknown>>)[name]
      return {
        name,
        meaning,
        type,
        isSet: value !== undefined,
        isDefault: asText(value) === asText(byDefault === undefined ? undefined : read(byDefault)),
        isHidden: secret,
        value: secret ? undefined : shown(value),
        byDefault,
      }
    },
  )

export const listSettings = query({
  ...consoleOperation,
  id: 'console.listSettings',
  method: 'GET',
  path: `${CONSOLE_API}/settings`,
  tag: 'Status',
  summary: 'List the settings of this process',
  description:
    'They are read from the environment when a process starts, and are changed there. Of secrets it is shown whether they are set.',
  permission: 'administer',
  result: listOf(
    record('Setting', {
      name: text(),
      meaning: text(),
      type: text('What it may be'),
      isSet: Type.Boolean({ description: 'Whether it has a value, by default or given' }),
      isDefault: Type.Boolean({ description: 'Whether that is the default' }),
      isHidden: Type.Boolean(),
      value: maybe('What is in force; absent for secrets'),
      byDefault: maybe('What is in force where none is given'),
    }),
  ),
  errors: [],
  mount({ config }) {
    return async () => {
      const data = settingsOf(config)
      return { body: JSON.stringify({ data, total: { count: data.length, exact: true } }) }
    }
  },
})
