import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

const L33T_SUBSTITUTIONS_MAX = 64

/** Without translations: a warning is the name of its reason. */
export const judge = new ZxcvbnFactory({
  dictionary,
  graphs: adjacencyGraphs,
  l33tMaxSubstitutions: L33T_SUBSTITUTIONS_MAX,
})
