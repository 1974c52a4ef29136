import { Button, FileButton, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'

interface FileDropProps {
  /** What is dropped: `a settlement file`. */
  readonly what: string
  readonly hint: string
  readonly busy: boolean
  readonly onFile: (file: File) => void
}

/** Takes one file, dropped or chosen. */
export function FileDrop({ what, hint, busy, onFile }: FileDropProps) {
  const [over, setOver] = useState(false)
  return (
    <Paper
      withBorder
      p="lg"
      style={{ borderStyle: 'dashed', ...(over && { borderColor: 'var(--mantine-primary-color-filled)' }) }}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const [file] = event.dataTransfer.files
        if (file && !busy) onFile(file)
      }}
    >
      <Stack align="center" gap="xs" ta="center">
        <Text fw={600}>Drop {what} here</Text>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
        <FileButton
          inputProps={{ 'aria-label': `Choose ${what}` }}
          onChange={(file) => {
            if (file) onFile(file)
          }}
        >
          {(props) => (
            <Button {...props} variant="default" loading={busy}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Stack>
    </Paper>
  )
}
