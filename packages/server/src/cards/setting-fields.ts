import {
  RECORD_SETTING_NAMES,
  RECORD_SETTINGS,
  type RecordSetting,
  type RecordSettingsChange,
} from '@svc/core/cards/account/record-settings'
import { type TSchema, Type } from 'typebox'

type OfEachSetting<V> = { readonly [Name in RecordSetting]: V }
export const ofEachSetting = <V>(value: (name: RecordSetting) => V): OfEachSetting<V> =>
  Object.fromEntries(RECORD_SETTING_NAMES.map((name) => [name, value(name)])) as OfEachSetting<V>

/** In requests; `null`: not set. */
export const SettingsGiven = ofEachSetting((name) =>
  Type.Optional(
    Type.Union([RECORD_SETTINGS[name], Type.Null()], { description: 'In the record of each card' }),
  ),
) as OfEachSetting<TSchema>

/** In responses, those that are set. */
export const SettingsShown = ofEachSetting((name) => Type.Optional(RECORD_SETTINGS[name]))

export const InheritedSettings = Type.Array(Type.Enum([...RECORD_SETTING_NAMES]), {
  description: 'Which of the settings above the card account has from its partner, since it states none',
})

export const settingsIn = (body: object): RecordSettingsChange =>
  ofEachSetting((name) => (body as RecordSettingsChange)[name]) as RecordSettingsChange
