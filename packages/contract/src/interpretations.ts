import { oneOf, type Setting } from './setting.ts'

/** A point at which the specification is silent and callers may differ (decision R5). */
interface Interpretation<C extends string = string> {
  /** Sections of the specification that leave it open. */
  readonly sections: readonly string[]
  readonly question: string
  /** What each value means. */
  readonly choices: Readonly<Record<C, string>>
}

/** Interpretations that are a choice among a few values, the default first; their settings are made of them. */
export const INTERPRETATIONS = {
  ACCESS_KEY_ALONE: {
    sections: ['4.2', '5.5'],
    question: 'Does `merchantAccessKey` without a token authorise the cancellation of a QR code?',
    choices: {
      reject: 'No: 401 `invalid_token`.',
      accept:
        'Yes, for the codes of its merchant. The key is not secret: only for callers that have nothing else.',
    },
  },
  CARD_AMOUNTS: {
    sections: ['2.4'],
    question:
      'Which rupees do the integers `otbBalance`, `accountBalance` and `lastAllocatedAmount` of a full card record show, and the text `loadAmount`?',
    choices: {
      whole: 'Whole rupees, rounded down: the types are those of the specification.',
      exact: 'Rupees with their paise: the integers are numbers. The reduced record is exact in both.',
    },
  },
  COIN_LOOKUP_TOKEN: {
    sections: ['4.5', '5.2', '5.4'],
    question: 'Whose token reads a coin configuration?',
    choices: {
      both: 'A token of its partner, or of a merchant that is linked to that partner (`svc admin merchant link`).',
      partner: 'A token of its partner only.',
    },
  },
  COIN_LOT_ORDER: {
    sections: ['2.6', '4.5'],
    question: 'Which coins of a user are spent first?',
    choices: {
      expiry: 'Those that expire soonest.',
      fifo: 'The oldest.',
    },
  },
  EXPIRED_STATUS: {
    sections: ['2.3', '3.1'],
    question: 'Which `status` does an expired QR code show, which accepts no payment?',
    choices: {
      ACTIVE: '`ACTIVE`: it was not cancelled.',
      CANCELLED: '`CANCELLED`: it accepts no payment. It can still be cancelled.',
    },
  },
  SEARCH_COOKIE: {
    sections: ['4.4'],
    question: 'Which session cookie does the card search require?',
    choices: {
      partner: 'One that came with any live token of the same partner: workers may share a cookie jar.',
      token: 'The one that came with this very token.',
      any: 'Any, or none: it is not checked.',
    },
  },
  SECOND_CANCEL: {
    sections: ['3.1', '4.2'],
    question: 'What does cancelling a cancelled QR code return?',
    choices: {
      same: 'The first response again: a retry after a lost response is no failure.',
      conflict:
        '409 `qr_code_already_cancelled`. A repeat with the same `Idempotency-Key` gets the first response.',
    },
  },
  SUCCESS_RESULT_CODE: {
    sections: ['2.1', '7'],
    question: 'What is `resultCode` when a token was issued?',
    choices: {
      '0': '`0`, as the other operations have it.',
      '200': '`200`, for callers that expect the HTTP status there. After a failure it is `1` in both.',
    },
  },
  TOKEN_EXPIRY: {
    sections: ['2.1', '5.6'],
    question: 'Is `expiry` of the merchant’s token an instant or a duration?',
    choices: {
      instant: 'The instant of expiry, in milliseconds since 1970.',
      duration: 'The time that is left, in milliseconds.',
    },
  },
  UNKNOWN_FIELDS: {
    sections: ['4'],
    question: 'What happens to fields of a request that the operation does not know?',
    choices: {
      reject: '400 `validation_failed`, which names them: a misspelt field is not lost in silence.',
      ignore: 'They have no effect.',
    },
  },
} as const satisfies Record<string, Interpretation>

/** Choices among more values than can be listed, by settings that stand with their subject. */
const OF_OTHER_SETTINGS = {
  BUSINESS_TIME_ZONE: {
    sections: ['2.2', '2.3', '2.4'],
    question: 'In which time zone are dates that show none, and where does a business day begin?',
    choices: {
      'Asia/Kolkata': 'India Standard Time.',
      UTC: 'Universal time; or any other zone of the IANA database by its name.',
    },
  },
  CARD_REPEAT_SECONDS: {
    sections: ['4.3'],
    question:
      'How long is an order of a card the same as an earlier one with the same content, where neither has a `referenceNumber` or an `Idempotency-Key`?',
    choices: {
      '0': 'Never: each order is a new card.',
      '120':
        'Two minutes, or any other number of seconds: a client that lost a response gets the first card.',
    },
  },
  TOKEN_TTL_SECONDS: {
    sections: ['5.6'],
    question: 'How long does a token live?',
    choices: { '3600': 'An hour, or any other number of seconds.' },
  },
} as const satisfies Record<string, Interpretation>

/** Everything at which an installation reads the specification in one of several ways, by the name of the setting. */
export const EVERY_INTERPRETATION: Readonly<
  Record<keyof typeof INTERPRETATIONS | keyof typeof OF_OTHER_SETTINGS, Interpretation>
> = { ...INTERPRETATIONS, ...OF_OTHER_SETTINGS }

export type InterpretationName = keyof typeof INTERPRETATIONS
type ChoiceOf<N extends InterpretationName> = keyof (typeof INTERPRETATIONS)[N]['choices'] & string

const settingOf = ({ question, choices }: Interpretation): Setting<string> => {
  const [fallback, ...others] = Object.keys(choices) as [string, ...string[]]
  const values = Object.entries(choices).map(([value, meaning]) => `\`${value}\`: ${meaning}`)
  return oneOf([fallback, ...others], fallback, [question, ...values].join(' '))
}

export const INTERPRETATION_SETTINGS = Object.fromEntries(
  Object.entries(INTERPRETATIONS).map(([name, interpretation]) => [name, settingOf(interpretation)]),
) as { readonly [N in InterpretationName]: Setting<ChoiceOf<N>> }
