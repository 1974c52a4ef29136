import { Code } from '@mantine/core'

/** Words of the service, in which `backticks` mark what is code. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) =>
    // The parts of a text never change places.
    // oxlint-disable-next-line react/no-array-index-key
    index % 2 === 1 ? <Code key={index}>{part}</Code> : part,
  )
}
