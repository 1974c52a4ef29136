import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { asCallFailed } from '../failure.ts'
import { type FormKey, newFormKey } from '../form-key.ts'
import { FailureAlert } from './failure-alert.tsx'

export interface ConfirmActionProps {
  /** On the button that opens the question, and the question's title. */
  readonly label: string
  /** What will happen, and whether it can be undone. */
  readonly children: ReactNode
  /** On the button that does it. */
  readonly confirm: string
  readonly danger?: boolean
  /** It is what the page is for. */
  readonly primary?: boolean
  /** Asks for a reason, which is kept with the change. */
  readonly withReason?: boolean | 'optional'
  /** Must be typed before it is done: for what cannot be undone. */
  readonly typed?: string
  readonly compact?: boolean
  /** `key`: the `Idempotency-Key`, the same while the question is open. */
  readonly run: (reason: string, key: FormKey) => Promise<unknown>
}

/** A button that asks before it does something, stays until it can say how it went, and cannot be pressed twice. */
export function ConfirmAction(props: ConfirmActionProps) {
  const { label, danger = false, primary = false, compact = false } = props
  const [opened, { open, close }] = useDisclosure(false)
  const [busy, setBusy] = useState(false)
  // The question stays on the screen until it has faded, also when the button does the opposite by then.
  const [shown, setShown] = useState(props)
  return (
    <>
      <Button
        variant={danger ? 'light' : primary ? 'filled' : 'default'}
        {...(danger && { color: 'red' })}
        size={compact ? 'compact-sm' : 'sm'}
        onClick={() => {
          setShown(props)
          open()
        }}
      >
        {label}
      </Button>
      <Modal opened={opened} onClose={() => !busy && close()} title={shown.label}>
        <Question {...shown} close={close} busy={busy} setBusy={setBusy} />
      </Modal>
    </>
  )
}

interface QuestionProps extends ConfirmActionProps {
  readonly close: () => void
  readonly busy: boolean
  readonly setBusy: (busy: boolean) => void
}

function Question({
  children,
  confirm,
  danger = false,
  withReason = false,
  typed,
  run,
  close,
  busy,
  setBusy,
}: QuestionProps) {
  const [reason, setReason] = useState('')
  const [written, setWritten] = useState('')
  const [key] = useState(newFormKey)
  const [failed, setFailed] = useState<unknown>()
  const ready = (withReason !== true || reason.trim() !== '') && (typed === undefined || written === typed)
  const act = async () => {
    setBusy(true)
    try {
      await run(reason.trim(), key)
      close()
    } catch (error) {
      setFailed(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (ready) void act()
      }}
    >
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {withReason && <Reason text={reason} onChange={setReason} required={withReason === true} />}
        {typed !== undefined && <Typed text={typed} value={written} onChange={setWritten} />}
        {failed !== undefined && <FailureAlert failed={asCallFailed(failed)} tried={confirm} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} disabled={busy}>
            Keep as it is
          </Button>
          <Button type="submit" {...(danger && { color: 'red' })} loading={busy} disabled={!ready}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface TypedProps {
  readonly text: string
  readonly value: string
  readonly onChange: (value: string) => void
}

interface ReasonProps extends Omit<TypedProps, 'value'> {
  readonly required: boolean
}

const Reason = ({ text, onChange, required }: ReasonProps) => (
  <TextInput
    label="Reason"
    description="Stored with the change, for later questions"
    required={required}
    maxLength={200}
    data-autofocus
    value={text}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
)

const Typed = ({ text, value, onChange }: TypedProps) => (
  <TextInput
    label={`Type ${text} to confirm`}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
)
