"""Objects for sound, other pages, files and code."""

# mypy: ignore-errors
from __future__ import annotations

import os
from base64 import b64encode
from html import escape

from IPython.core.display import DisplayObject, TextDisplayObject

__all__ = [
    "Audio",
    "Code",
    "FileLink",
    "FileLinks",
    "IFrame",
    "ScribdDocument",
    "VimeoVideo",
    "YouTubeVideo",
]


class Audio(DisplayObject):
    """Sound, from a file, an address, the bytes of a file, or numbers and their `rate`."""

    def __init__(
        self,
        data=None,
        filename=None,
        url=None,
        embed=None,
        rate=None,
        autoplay=False,
        normalize=True,
        *,
        element_id=None,
    ):
        if data is None and filename is None and url is None:
            raise ValueError("No audio data found. Expecting filename, url, or data.")
        if embed is False and url is None:
            raise ValueError("No url found. Expecting url when embed=False")
        self.embed = embed if embed is not None else url is None
        self.autoplay, self.element_id = autoplay, element_id
        if data is not None and not isinstance(data, (str, bytes, os.PathLike)):
            if rate is None:
                raise ValueError(
                    "rate must be specified when data is a numpy array or list of audio samples."
                )
            data = _wave(data, rate, normalize)
        super().__init__(data=data, url=url, filename=filename)

    def reload(self):
        """Read the file or the address again, where the sound is part of what is shown."""
        if self.embed:
            super().reload()

    def _repr_html_(self):
        import mimetypes

        source = self.url or self.filename or ""
        mimetype = mimetypes.guess_type(source)[0] or "audio/wav"
        if self.embed:
            source = "data:{};base64,{}".format(mimetype, b64encode(self.data).decode("ascii"))
        words = " id={}".format(escape(self.element_id)) if self.element_id else ""
        words += " autoplay" if self.autoplay else ""
        return '<audio controls{}><source src="{}" type="{}"/></audio>'.format(
            words, escape(source), mimetype
        )


def _wave(samples, rate, normalize):
    """Write numbers, or a list of numbers for each channel, as a file of sound with 16 bits a number."""
    import array
    import io
    import sys
    import wave

    samples = samples.tolist() if hasattr(samples, "tolist") else list(samples)
    channels = samples if samples and isinstance(samples[0], (list, tuple)) else [samples]
    loudest = max((abs(value) for channel in channels for value in channel), default=0)
    if not normalize and loudest > 1:
        raise ValueError("Audio data must be between -1 and 1 when normalize=False.")
    scale = 32767 / ((loudest if normalize else 1) or 1)
    numbers = array.array("h", (int(value * scale) for values in zip(*channels) for value in values))
    if sys.byteorder == "big":
        numbers.byteswap()
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(len(channels))
        sound.setsampwidth(2)
        sound.setframerate(int(rate))
        sound.writeframes(numbers.tobytes())
    return file.getvalue()


class IFrame:
    """Another page, in a frame."""

    def __init__(self, src, width, height, extras=None, **params):
        self.src, self.width, self.height = src, width, height
        self.extras, self.params = extras or [], params

    def _repr_html_(self):
        from urllib.parse import urlencode

        source = str(self.src) + ("?" + urlencode(self.params) if self.params else "")
        return '<iframe src="{}" width="{}" height="{}" frameborder="0" allowfullscreen {}></iframe>'.format(
            escape(source), escape(str(self.width)), escape(str(self.height)), " ".join(self.extras)
        )


class YouTubeVideo(IFrame):
    """A video of YouTube."""

    def __init__(self, id, width=400, height=300, allow_autoplay=False, **params):
        self.id = id
        extras = ['allow="autoplay"'] if allow_autoplay else []
        super().__init__("https://www.youtube.com/embed/" + id, width, height, extras, **params)


class VimeoVideo(IFrame):
    """A video of Vimeo."""

    def __init__(self, id, width=400, height=300, **params):
        self.id = id
        super().__init__("https://player.vimeo.com/video/" + id, width, height, **params)


class ScribdDocument(IFrame):
    """A document of Scribd."""

    def __init__(self, id, width=400, height=300, **params):
        self.id = id
        super().__init__("https://www.scribd.com/embeds/{}/content".format(id), width, height, **params)


class FileLink:
    """A link to a file."""

    def __init__(self, path, url_prefix="", result_html_prefix="", result_html_suffix="<br>"):
        if os.path.isdir(path):
            raise ValueError(
                "Cannot display a directory using FileLink. Use FileLinks to display {!r}.".format(path)
            )
        self.path = os.fsdecode(path)
        self._form = result_html_prefix + "<a href='{}' target='_blank'>{}</a>" + result_html_suffix
        self.url_prefix = url_prefix

    def __repr__(self):
        return os.path.abspath(self.path)

    def _repr_html_(self):
        return self._form.format(self.url_prefix + escape(self.path), escape(self.path, quote=False))


class FileLinks(FileLink):
    """Links to the files of a folder."""

    def __init__(
        self,
        path,
        url_prefix="",
        included_suffixes=None,
        result_html_prefix="",
        result_html_suffix="<br>",
        recursive=True,
        **_formatters,
    ):
        if os.path.isfile(path):
            raise ValueError(
                "Cannot display a file using FileLinks. Use FileLink to display {!r}.".format(path)
            )
        self.path = os.fsdecode(path)
        self._form = result_html_prefix + "<a href='{}' target='_blank'>{}</a>" + result_html_suffix
        self.url_prefix = url_prefix
        self.included_suffixes, self.recursive = included_suffixes, recursive

    def _folders(self):
        """Return each folder with its files, in the order of their names."""
        folders = []
        for folder, _, files in os.walk(self.path):
            matches = [
                file
                for file in sorted(files)
                if self.included_suffixes is None or os.path.splitext(file)[1] in self.included_suffixes
            ]
            if matches:
                folders.append((folder, matches))
            if not self.recursive:
                break
        return sorted(folders)

    def __repr__(self):
        return "\n".join(
            line
            for folder, files in self._folders()
            for line in [folder + "/", *("  " + file for file in files)]
        )

    def _repr_html_(self):
        lines = []
        for folder, files in self._folders():
            lines.append(escape(folder) + "/<br>")
            for file in files:
                address = self.url_prefix + escape(os.path.join(folder, file))
                lines.append("&nbsp;&nbsp;" + self._form.format(address, escape(file, quote=False)))
        return "\n".join(lines)


class Code(TextDisplayObject):
    """Code, which is coloured where Pygments is installed."""

    def __init__(self, data=None, url=None, filename=None, language=None):
        self.language = language
        super().__init__(data=data, url=url, filename=filename)

    def __repr__(self):
        return self.data

    def _repr_html_(self):
        try:
            from pygments import formatters, highlight, lexers
        except ImportError:
            return "<pre>{}</pre>".format(escape(self.data))
        if self.language:
            lexer = lexers.get_lexer_by_name(self.language)
        elif self.filename:
            lexer = lexers.get_lexer_for_filename(self.filename)
        else:
            lexer = lexers.guess_lexer(self.data)
        return highlight(self.data, lexer, formatters.HtmlFormatter(noclasses=True))
