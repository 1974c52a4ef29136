import { Button, FileButton, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'

interface FileDropProps {
  /** What is dropped: `files of the bank`. */
  readonly what: string
  readonly hint: string
  readonly onFiles: (files: readonly File[]) => void
}

/** Takes files, dropped or chosen. */
export function FileDrop({ what, hint, onFiles }: FileDropProps) {
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
        onFiles([...event.dataTransfer.files])
      }}
    >
      <Stack align="center" gap="xs" ta="center">
        <Text fw={600}>Drop {what} here</Text>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
        <FileButton inputProps={{ 'aria-label': `Choose ${what}` }} multiple onChange={onFiles}>
          {(props) => (
            <Button {...props} variant="default">
              Choose files
            </Button>
          )}
        </FileButton>
      </Stack>
    </Paper>
  )
}
