import { FUNDING_SETTINGS } from './funding-settings.ts'
import { loadLimits } from './load-limits.ts'
import { digits, oneOf, railKeys, whole } from './setting.ts'

/** Settings of cards, of the rail on which a card network spends them, and of coins. */
export const CARD_SETTINGS = {
  CARD_BIN: digits(
    6,
    8,
    '999912',
    'Leading digits of the card numbers that are issued (BIN); by default a range of no network.',
  ),
  CARD_LOAD_MAX_RUPEES: whole(
    10_000,
    1,
    1_000_000,
    'Largest load of a gift card, in rupees (the regulator’s limit by default).',
  ),
  CARD_LOAD_LIMITS: loadLimits,
  CARD_VALIDITY_MONTHS: whole(36, 12, 240, 'Months that a new card is valid.'),
  JWE_MAX_AGE_SECONDS: whole(
    300,
    10,
    86_400,
    'Seconds for which an encrypted request is valid after the `iat` of its header; without `iat` it has no age.',
  ),
  CARD_REPEAT_SECONDS: whole(
    120,
    0,
    86_400,
    'Seconds in which an order over the API with the same content, and without a `referenceNumber` and an `Idempotency-Key`, is the same order and returns the first card (decision C22); 0: every order is a new one.',
  ),
  CARD_UNCLAIMED_DAYS: whole(
    1_095,
    45,
    7_300,
    'Days after the end of a card (blocked or expired) from which what is left on it is unclaimed, and returns to its card account.',
  ),
  CARD_RETURN_WAIT_DAYS: whole(
    7,
    0,
    90,
    'Days that money on its way back from a blocked or expired card waits in the account `unclaimed`; until then an operator can put it back on the card.',
  ),
  USER_RETENTION_DAYS: whole(
    0,
    0,
    7_300,
    'Days after which the personal data of a user is erased: after the end of the last card and the last award of coins, and once no money or coins are left (decision C23); 0: never by itself.',
  ),
  CARD_RAIL_KEYS: railKeys(
    'Keys with which the card network signs its messages; two while one replaces the other. Without one, live mode accepts no messages; sandbox mode creates its own.',
  ),
  ...FUNDING_SETTINGS,
  CARD_HOLD_DAYS: whole(
    7,
    1,
    60,
    'Days after which the hold of an authorisation that was not captured expires.',
  ),
  CARD_OVER_CAPTURE_PERCENT: whole(
    20,
    0,
    100,
    'How far captures may exceed their authorisation, in percent of it, before the excess goes to the exceptions account (tips, fuel).',
  ),
  CARD_TRANSACTION_MAX_RUPEES: whole(10_000, 1, 1_000_000, 'Largest amount of one authorisation, in rupees.'),
  CARD_DAY_MAX_RUPEES: whole(
    10_000,
    1,
    1_000_000,
    'What a card may spend in a day of the business zone, open holds included, in rupees.',
  ),
  CARD_MONTH_MAX_RUPEES: whole(
    10_000,
    1,
    10_000_000,
    'What a card may spend in a month of the business zone, open holds included, in rupees.',
  ),
  COIN_CLAWBACK: oneOf(
    ['lot', 'wallet'],
    'lot',
    'What voiding an allocation takes: only what remains of it, or for its spent coins others of the user too, as far as there are.',
  ),
  COIN_EXPIRY_NOTICE_DAYS: whole(
    7,
    0,
    365,
    'Days before coins expire on which `coins.expiring` announces it, once; coins that last no longer are announced at once. 0: no announcements.',
  ),
} as const
