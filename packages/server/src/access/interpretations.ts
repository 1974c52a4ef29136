import { SETTINGS } from '@svc/contract/config'
import { EVERY_INTERPRETATION } from '@svc/contract/interpretations'
import { Type } from 'typebox'
import { query } from '../http/operation.ts'

const Interpretation = Type.Object({
  setting: Type.String({ description: 'The name of the setting' }),
  value: Type.String({ description: 'How this server reads the specification' }),
  default: Type.String(),
  sections: Type.Array(Type.String(), { description: 'Sections of the specification that leave it open' }),
  question: Type.String(),
  choices: Type.Record(Type.String(), Type.String(), {
    description: 'What each value means; of a number or a name, what some values mean',
  }),
})

/** Decision R5: how this server reads the specification where it is silent and callers may differ. */
export const interpretations = query({
  id: 'getInterpretations',
  method: 'GET',
  path: '/.well-known/svc-interpretation.json',
  tag: 'Interpretation',
  summary: 'Interpretation settings',
  description:
    'How this server reads the specification where it is silent. The operator of an installation chooses each value.',
  auth: 'none',
  envelope: 'bare',
  ignores: ['query'],
  result: Type.Object({ interpretations: Type.Array(Interpretation) }),
  errors: [],

  mount({ config }) {
    const shown = Object.entries(EVERY_INTERPRETATION).map(([name, { sections, question, choices }]) => {
      const setting = name as keyof typeof EVERY_INTERPRETATION
      const { default: text, read } = SETTINGS[setting]
      // A time zone may be read under another name.
      const value = config[setting] === read(text) ? text : String(config[setting])
      return { setting, value, default: text, sections, question, choices }
    })
    const body = JSON.stringify({ interpretations: shown })
    return () => ({ headers: { 'cache-control': 'public, max-age=300' }, body })
  },
})
