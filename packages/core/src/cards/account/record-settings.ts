import { EMAIL_CHARS_MAX, EMAIL_PATTERN, MOBILE_PATTERN } from '@svc/contract/contact-fields'
import { type Static, Type } from 'typebox'

const reference = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[!-~]+$',
    'x-rule': 'must have 1 to 64 visible ASCII characters',
    description,
  })
const link = (description: string) =>
  Type.String({
    maxLength: 500,
    pattern: '^https://[!-~]+$',
    'x-rule': 'must be a URL with https, 500 characters at most',
    description,
  })

/** Fields of the card record that are the same for all cards of an account, and that its partner sets (decision C27). */
export const RECORD_SETTINGS = {
  svcSupportEmail: Type.String({
    maxLength: EMAIL_CHARS_MAX,
    pattern: EMAIL_PATTERN,
    'x-rule': 'must be an e-mail address',
    description: 'Where holders get help',
  }),
  svcSupportMobile: Type.String({
    pattern: MOBILE_PATTERN,
    'x-rule': 'must be exactly 10 digits',
    description: 'Where holders get help',
  }),
  partnerLogo: link('Your logo'),
  defaultCardImage: link('How the card looks'),
  tncUrl: link('Terms of the card'),
  tncVersionMasterId: reference('Version of the terms'),
  extEntityId: reference('Your own name of the programme or entity'),
  switchProvider: reference('Who connects the cards to the network'),
  cardKitMasterId: Type.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'Kit in which physical cards are sent',
  }),
} as const

const All = Type.Object(RECORD_SETTINGS)
export type RecordSettings = Partial<Static<typeof All>>
export type RecordSetting = keyof RecordSettings
/** A change of some: absent: as it is; `null`: not set. */
export type RecordSettingsChange = {
  readonly [Name in RecordSetting]?: RecordSettings[Name] | null | undefined
}

export const RECORD_SETTING_NAMES = Object.keys(RECORD_SETTINGS) as RecordSetting[]

export const changedSettings = (settings: RecordSettings, change: RecordSettingsChange): RecordSettings => {
  const given = Object.entries({ ...settings, ...definedIn(change) })
  return Object.fromEntries(given.filter(([, value]) => value !== null))
}

const definedIn = (change: RecordSettingsChange): object =>
  Object.fromEntries(
    RECORD_SETTING_NAMES.flatMap((name) => (change[name] === undefined ? [] : [[name, change[name]]])),
  )

/** What a card account states itself, and what its partner says for all. */
export interface SettingSources {
  readonly recordSettings: RecordSettings
  readonly partnerSettings: RecordSettings
}

/** What the records of the account’s cards say: its own settings, else those of its partner. */
export const settingsInForce = ({ recordSettings, partnerSettings }: SettingSources): RecordSettings => ({
  ...partnerSettings,
  ...recordSettings,
})

/** Those that the account has from its partner. */
export const inheritedSettings = ({ recordSettings, partnerSettings }: SettingSources): RecordSetting[] =>
  RECORD_SETTING_NAMES.filter(
    (name) => partnerSettings[name] !== undefined && recordSettings[name] === undefined,
  )

/** A column: the settings of a partner, `partner` its id in the statement. */
export const partnerSettingsColumn = (partner: string): string =>
  `coalesce((select ps.record_settings from partner_record_settings ps where ps.partner_id = ${partner}), '{}') as "partnerSettings"`
