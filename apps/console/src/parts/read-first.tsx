import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { FailureAlert } from './failure-alert.tsx'
import { FileDrop } from './file-drop.tsx'
import { Section } from './page.tsx'

interface ReadFirstProps<Found, Done> {
  /** Such as `a bank statement`. */
  readonly what: string
  readonly hint: string
  /** Reads the file as it is chosen to be read now, and records nothing. */
  readonly read: (file: File) => Promise<Found>
  /** What the file says, and the button that records it. */
  readonly found: (found: Found, onDone: (done: Done) => void) => ReactNode
  readonly done: (done: Done) => ReactNode
}

/** A file that is read first, and recorded once people have seen what it says. */
export function ReadFirst<Found extends { readonly file: File }, Done>(props: ReadFirstProps<Found, Done>) {
  const [found, setFound] = useState<Found>()
  const [done, setDone] = useState<Done>()
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState<unknown>()
  const read = async (file: File) => {
    setBusy(true)
    setFailed(undefined)
    setFound(undefined)
    setDone(undefined)
    try {
      setFound(await props.read(file))
    } catch (error) {
      setFailed(error)
    } finally {
      setBusy(false)
    }
  }
  const recorded = (of: Done) => {
    setFound(undefined)
    setDone(of)
  }
  const discard = (
    <Button variant="subtle" size="compact-sm" onClick={() => setFound(undefined)}>
      Discard
    </Button>
  )
  return (
    <>
      <FileDrop what={props.what} hint={props.hint} busy={busy} onFile={(file) => void read(file)} />
      {failed !== undefined && <FailureAlert failed={failed} />}
      {found && (
        <Section title={found.file.name} aside={discard}>
          {props.found(found, recorded)}
        </Section>
      )}
      {done && props.done(done)}
    </>
  )
}
